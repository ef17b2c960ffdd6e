import { expect, type Page } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

const found = (page: Page) => page.locator('a[data-card]').first()

export const search: readonly Screen[] = [
  { name: 'search', route: '/search', path: () => '/search' },
  {
    name: 'search-results',
    route: '/search',
    path: () => `/search?q=${encodeURIComponent('is:open label:design')}`,
    ready: found,
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
    name: 'search-nothing',
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
    name: 'search-of-a-newcomer',
    route: '/search',
    person: 'newcomer',
    path: () => '/search',
  },
  {
    name: 'search-save',
    route: '/search',
    path: () => '/search?q=is:open',
    ready: found,
    steps: async (page) => {
      await button(page, 'Save as filter').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  { name: 'my-cards', route: '/my-cards', path: () => '/my-cards', ready: found },
  {
    name: 'my-cards-of-a-newcomer',
    route: '/my-cards',
    person: 'newcomer',
    path: () => '/my-cards',
    ready: (page) => page.getByRole('heading', { level: 2 }),
  },
]
