// What a screen is, and the words in which the tables of screens say what a person does.
import type { Locator, Page } from '@playwright/test'
import type { Stage, Who } from '../stage'

export type Screen = {
  /** Names its pictures and tests. */
  name: string
  /** The pattern of its address in the routes; empty for what has none. */
  route: string
  /** The demo person when absent. */
  who?: Who
  at: (s: Stage) => string
  /** What is there when the page is; its first heading when absent. */
  shows?: (page: Page) => Locator
  /** What a person does on the page to come to the screen. */
  then?: (page: Page, s: Stage) => Promise<void>
  /** Requests of it fail, which is what it shows. */
  fails?: boolean
  /** Before the page is asked for. */
  first?: (page: Page) => Promise<unknown>
  /** The title of its window without the product's name; the heading when absent. */
  title?: RegExp
}

export const dialog = (page: Page) => page.getByRole('dialog')
export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
export const cards = (page: Page) => page.locator('[data-card]').first()
/** Has the server fail at a path. */
export const failing = (path: string) => (page: Page) =>
  page.route(path, (route) =>
    route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'Something went wrong. Try again.' } } }),
  )
export const unreachable = (path: string) => (page: Page) => page.route(path, (route) => route.abort())
