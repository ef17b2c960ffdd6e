// The type of a screen, and helpers for the tables of screens.
import type { Locator, Page } from '@playwright/test'
import { shortenPauses } from '../fixtures'
import type { ScreenData, ScreenUser } from '../screenData'

export type Screen = {
  /** The name of its screenshots and tests. */
  name: string
  /** Its route pattern; empty if it has none. */
  route: string
  /** The user who opens it; the demo account if absent. */
  user?: ScreenUser
  path: (data: ScreenData) => string
  /** An element that is visible when the page has loaded; the first heading if absent. */
  ready?: (page: Page) => Locator
  /** The steps from the page to the screen. */
  steps?: (page: Page, data: ScreenData) => Promise<void>
  /** Whether requests of the screen fail. */
  expectFailures?: boolean
  /** The steps before the page is loaded. */
  prepare?: (page: Page) => Promise<unknown>
  /** A pattern that the window title must match; not checked if absent. */
  title?: RegExp
}

export const dialog = (page: Page) => page.getByRole('dialog')
export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
export const firstCard = (page: Page) => page.locator('[data-card]').first()
/** Makes requests to a path fail with status 500. */
export const failing = (path: string) => (page: Page) =>
  page.route(path, (route) =>
    route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'Something went wrong. Try again.' } } }),
  )
/** Makes requests to a path fail without a response. */
export const unreachable = (path: string) => async (page: Page) => {
  await shortenPauses(page)
  await page.route(path, (route) => route.abort())
}
