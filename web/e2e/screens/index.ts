// Every screen of the application, and how to reach it. The screenshots and the checks of axe,
// the keyboard and narrow windows use this table; src/routes.test.ts fails if a route of routes.ts
// is missing here.
import { expect, type Page } from '@playwright/test'
import { server } from '../fixtures'
import { enter, stage } from '../stage'
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
import { collecting } from './collecting'
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
  ...collecting,
  ...automation,
  ...errors,
]

/** The first screen of each route, which gets all checks. */
export const mainScreens = screens.filter((one, i) => screens.findIndex((other) => other.route === one.route) === i)

/** Opens a screen on a page. */
export async function show(page: Page, screen: Screen): Promise<void> {
  const s = await stage()
  await enter(page, screen.person ?? 'demo')
  await screen.prepare?.(page)
  await page.goto(server().url + screen.path(s))
  await expect((screen.ready ?? ((p) => p.getByRole('heading').first()))(page)).toBeVisible({ timeout: 15_000 })
  await screen.steps?.(page, s)
  await expect(page.locator('.skeleton')).toHaveCount(0)
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await settle(page)
}

/** Waits until the page is painted and animations have ended, for at most a second. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const still = async () => {
      await frame()
      await Promise.allSettled(document.getAnimations().map((animation) => animation.finished))
      await frame()
    }
    await Promise.race([still(), new Promise((later) => setTimeout(later, 1000))])
  })
}
