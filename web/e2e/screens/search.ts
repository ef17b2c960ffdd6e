import { expect, type Page } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

const firstResult = (page: Page) => page.locator('a[data-card]').first()

export const search: readonly Screen[] = [
  { name: 'search', route: '/search', path: () => '/search' },
  {
    name: 'search-results',
    route: '/search',
    path: () => `/search?q=${encodeURIComponent('is:open label:design')}`,
    ready: firstResult,
  },
  {
    name: 'search-completion',
    route: '/search',
    path: () => '/search',
    steps: async (page) => {
      await page.getByRole('combobox').first().pressSequentially('is:open d')
      await expect(page.getByRole('option').first()).toBeVisible()
    },
  },
  {
    name: 'search-no-matches',
    route: '/search',
    path: () => '/search?q=zeppelin',
    ready: (page) => page.getByRole('heading', { level: 2 }).first(),
  },
  {
    name: 'search-refused',
    expectFailures: true,
    route: '/search',
    path: () => '/search?q=due:sometime',
    ready: (page) => page.getByRole('alert').first(),
  },
  {
    name: 'search-without-workspace',
    route: '/search',
    user: 'newcomer',
    path: () => '/search',
  },
  {
    name: 'search-save',
    route: '/search',
    path: () => '/search?q=is:open',
    ready: firstResult,
    steps: async (page) => {
      await button(page, 'Save as filter').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  { name: 'my-cards', route: '/my-cards', path: () => '/my-cards', ready: firstResult },
  {
    name: 'my-cards-empty',
    route: '/my-cards',
    user: 'newcomer',
    path: () => '/my-cards',
    ready: (page) => page.getByRole('heading', { level: 2 }),
  },
]
