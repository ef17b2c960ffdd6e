// The type of a screen, and helpers that the tables of screens use.
import type { Locator, Page } from '@playwright/test'
import type { Stage, Who } from '../stage'

export type Screen = {
  /** The name of its screenshots and tests. */
  name: string
  /** Its route pattern; empty if it has none. */
  route: string
  /** The signed-in person; the demo person if absent. */
  person?: Who
  path: (s: Stage) => string
  /** An element that is visible once the page is loaded; the first heading if absent. */
  ready?: (page: Page) => Locator
  /** The steps from the page to the screen. */
  steps?: (page: Page, s: Stage) => Promise<void>
  /** Whether the screen shows failed requests. */
  expectFailures?: boolean
  /** Steps before the page is loaded. */
  prepare?: (page: Page) => Promise<unknown>
  /** The window title without the product's name; the heading if absent. */
  title?: RegExp
}

export const dialog = (page: Page) => page.getByRole('dialog')
export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
export const cards = (page: Page) => page.locator('[data-card]').first()
/** Makes the server fail for a path. */
export const failing = (path: string) => (page: Page) =>
  page.route(path, (route) =>
    route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'Something went wrong. Try again.' } } }),
  )
export const unreachable = (path: string) => (page: Page) => page.route(path, (route) => route.abort())
