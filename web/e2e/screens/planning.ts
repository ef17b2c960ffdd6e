import { expect, type Page } from '@playwright/test'
import { button, type Screen } from './screen'

const firstBar = (page: Page) => page.locator('[data-item], [data-line], [data-day]').first()
const firstItem = (page: Page) => page.locator('[data-item], [data-line]').first()
const calendar = (s: { workspaceId: string }) => `/workspaces/${s.workspaceId}/calendar`

export const planning: readonly Screen[] = [
  {
    name: 'calendar',
    route: '/workspaces/:workspaceId/calendar',
    path: calendar,
    ready: firstBar,
    title: /^\w+ \d{4} · Calendar/,
  },
  {
    name: 'calendar-week',
    route: '/workspaces/:workspaceId/calendar',
    path: (s) => `${calendar(s)}?view=week`,
    ready: firstBar,
  },
  {
    name: 'calendar-of-a-board',
    route: '/workspaces/:workspaceId/calendar',
    path: (s) => `${calendar(s)}?board=${s.boardId}&done=false`,
    ready: firstBar,
  },
  {
    name: 'calendar-empty',
    route: '/workspaces/:workspaceId/calendar',
    path: (s) => `${calendar(s)}?date=2031-05-10`,
    ready: (page) => page.getByRole('heading', { level: 1, name: 'May 2031' }),
  },
  {
    name: 'calendar-not-found',
    expectFailures: true,
    route: '/workspaces/:workspaceId/calendar',
    user: 'newcomer',
    path: calendar,
  },
  {
    name: 'calendar-menu',
    route: '/workspaces/:workspaceId/calendar',
    path: (s) => `${calendar(s)}?view=week`,
    ready: firstItem,
    steps: async (page) => {
      await firstItem(page).click({ button: 'right' })
      await expect(page.getByRole('menu')).toBeVisible()
    },
  },
  {
    name: 'calendar-dates',
    route: '/workspaces/:workspaceId/calendar',
    path: (s) => `${calendar(s)}?view=week`,
    ready: firstItem,
    steps: async (page) => {
      await firstItem(page).focus()
      await page.keyboard.press('d')
      await expect(page.getByRole('dialog', { name: /^Dates of/ }).getByRole('grid')).toBeVisible()
    },
  },
  {
    name: 'calendar-boards',
    route: '/workspaces/:workspaceId/calendar',
    path: calendar,
    ready: firstBar,
    steps: (page) => button(page, 'All boards').click(),
  },
  {
    name: 'dashboard',
    route: '/workspaces/:workspaceId/dashboard',
    path: (s) => `/workspaces/${s.workspaceId}/dashboard`,
    ready: (page) => page.getByRole('region', { name: 'By board' }),
    title: /^Dashboard/,
  },
  {
    name: 'dashboard-tables',
    route: '/workspaces/:workspaceId/dashboard',
    path: (s) => `/workspaces/${s.workspaceId}/dashboard`,
    ready: (page) => page.getByRole('region', { name: 'By board' }),
    steps: async (page) => {
      for (const chart of ['Created and completed', 'By board', 'By list', 'By person', 'By label']) {
        await button(page, `Table of ${chart}`).click()
      }
      await expect(page.getByRole('table')).toHaveCount(5)
    },
  },
  {
    name: 'dashboard-of-an-empty-board',
    route: '/workspaces/:workspaceId/dashboard',
    user: 'founder',
    path: (s) => `/workspaces/${s.empty.workspaceId}/dashboard`,
    ready: (page) => page.getByRole('heading', { level: 1 }),
  },
]
