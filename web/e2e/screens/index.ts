// Every screen of the application, and the steps to it. The screenshots and the checks for
// accessibility, keyboard use and narrow windows use this table. src/routes.test.ts fails if a
// route of routes.ts is missing.
import { expect, type Page } from '@playwright/test'
import { server } from '../fixtures'
import { screenData, startSession } from '../screenData'
import { accounts } from './accounts'
import { automation } from './automation'
import { home } from './home'
import { workspace } from './workspace'
import { board } from './board'
import { search } from './search'
import { profile } from './profile'
import { publicPages } from './public'
import { notifications } from './notifications'
import { webhooks } from './webhooks'
import { planning } from './planning'
import { crossBoard } from './crossBoard'
import { errors } from './errors'
import type { Screen } from './screen'

export const screens: readonly Screen[] = [
  ...accounts,
  ...home,
  ...workspace,
  ...board,
  ...search,
  ...profile,
  ...publicPages,
  ...notifications,
  ...webhooks,
  ...planning,
  ...crossBoard,
  ...automation,
  ...errors,
]

/** The first screen of each route, which gets all checks. */
export const mainScreens = screens.filter((screen, i) => screens.findIndex(({ route }) => route === screen.route) === i)

/** Opens a screen on a page, and waits until it is complete. */
export async function show(page: Page, screen: Screen): Promise<void> {
  const data = await screenData()
  await startSession(page, screen.user ?? 'demo')
  await screen.prepare?.(page)
  await page.goto(server().url + screen.path(data))
  await expect((screen.ready ?? ((p) => p.getByRole('heading').first()))(page)).toBeVisible({ timeout: 15_000 })
  await screen.steps?.(page, data)
  await expect(page.locator('.skeleton')).toHaveCount(0)
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await settle(page)
}

/** Waits until the page is painted, and until the animations that end have ended. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    await nextFrame()
    const ending = document.getAnimations().filter((a) => Number.isFinite(a.effect?.getComputedTiming().endTime))
    await Promise.allSettled(ending.map((animation) => animation.finished))
    await nextFrame()
  })
}
