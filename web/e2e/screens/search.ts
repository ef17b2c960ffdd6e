import { expect, type Page } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

const found = (page: Page) => page.locator('a[data-card]').first()

export const search: readonly Screen[] = [
  { name: 'search', route: '/search', at: () => '/search' },
  {
    name: 'search-results',
    route: '/search',
    at: () => `/search?q=${encodeURIComponent('is:open label:design')}`,
    shows: found,
  },
  {
    name: 'search-completion',
    route: '/search',
    at: () => '/search',
    then: async (page) => {
      await page.getByRole('combobox').first().pressSequentially('is:open d')
      await expect(page.getByRole('option').first()).toBeVisible()
    },
  },
  {
    name: 'search-nothing',
    route: '/search',
    at: () => '/search?q=zeppelin',
    shows: (page) => page.getByRole('heading', { level: 2 }).first(),
  },
  {
    name: 'search-refused',
    fails: true,
    route: '/search',
    at: () => '/search?q=due:sometime',
    shows: (page) => page.getByRole('alert').first(),
  },
  {
    name: 'search-of-a-newcomer',
    route: '/search',
    who: 'newcomer',
    at: () => '/search',
  },
  {
    name: 'search-save',
    route: '/search',
    at: () => '/search?q=is:open',
    shows: found,
    then: async (page) => {
      await button(page, 'Save as filter').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  { name: 'my-cards', route: '/my-cards', at: () => '/my-cards', shows: found },
  {
    name: 'my-cards-of-a-newcomer',
    route: '/my-cards',
    who: 'newcomer',
    at: () => '/my-cards',
    shows: (page) => page.getByRole('heading', { level: 2 }),
  },
]
