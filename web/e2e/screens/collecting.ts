import { expect } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

export const collecting: readonly Screen[] = [
  {
    name: 'plan',
    route: '/workspaces/:workspaceId/plan',
    path: (s) => `/workspaces/${s.workspaceId}/plan`,
    ready: (page) => page.getByRole('heading', { name: 'All plans' }),
  },
  {
    name: 'plan-of-a-small-one',
    route: '/workspaces/:workspaceId/plan',
    person: 'founder',
    path: (s) => `/workspaces/${s.empty.workspaceId}/plan`,
    ready: (page) => page.getByRole('heading', { name: 'Business plan' }),
  },
  {
    name: 'organizations',
    route: '/organizations',
    path: () => '/organizations',
    ready: (page) => page.getByRole('combobox', { name: /^Plan of/ }).first(),
  },
  {
    name: 'organizations-none-found',
    route: '/organizations',
    path: () => '/organizations?q=zeppelin',
    ready: (page) => page.getByText('No organizations match').last(),
  },
  {
    name: 'organizations-of-no-operator',
    route: '/organizations',
    person: 'founder',
    path: () => '/organizations',
    ready: (page) => page.getByText('Page not found'),
    title: /Page not found/,
  },
  {
    name: 'status-updates',
    route: '/boards/:boardId/status',
    path: (s) => `/boards/${s.boardId}/status`,
    ready: (page) => page.getByRole('article').first(),
  },
  {
    name: 'status-updates-writing',
    route: '/boards/:boardId/status',
    path: (s) => `/boards/${s.boardId}/status`,
    ready: (page) => page.getByRole('article').first(),
    steps: async (page) => {
      await button(page, 'Write update').click()
      await expect(page.getByText('Draft from')).toBeVisible()
    },
  },
  {
    name: 'status-updates-none',
    route: '/boards/:boardId/status',
    person: 'founder',
    path: (s) => `/boards/${s.empty.boardId}/status`,
    ready: (page) => page.getByText('No status updates yet'),
  },
  {
    name: 'filter-table',
    route: '/saved-filters/:filterId',
    path: (s) => `/saved-filters/${s.filters.whole}`,
    ready: (page) => page.getByRole('gridcell').first(),
  },
  {
    name: 'filter-table-labels',
    route: '/saved-filters/:filterId',
    path: (s) => `/saved-filters/${s.filters.whole}`,
    ready: (page) => page.getByRole('gridcell').first(),
    steps: async (page) => {
      await expect(page.locator('[data-cell="0-4"]')).toHaveAttribute('aria-readonly', 'false')
      await page.locator('[data-cell="0-4"]').press('Enter')
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'filter-table-broken',
    route: '/saved-filters/:filterId',
    path: (s) => `/saved-filters/${s.filters.broken}`,
    ready: (page) => page.getByText('This filter is broken.'),
  },
  {
    name: 'filter-table-edit',
    route: '/saved-filters/:filterId',
    path: (s) => `/saved-filters/${s.filters.broken}`,
    ready: (page) => page.getByText('This filter is broken.'),
    steps: async (page) => {
      await button(page, 'Fix filter').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'templates',
    route: '/workspaces/:workspaceId/templates',
    path: (s) => `/workspaces/${s.workspaceId}/templates`,
    ready: (page) => button(page, 'Preview A launch, as we do it').first(),
  },
  {
    name: 'templates-preview',
    route: '/workspaces/:workspaceId/templates',
    path: (s) => `/workspaces/${s.workspaceId}/templates`,
    ready: (page) => button(page, 'Preview A launch, as we do it').first(),
    steps: async (page) => {
      await page
        .getByRole('button', { name: /^Preview/ })
        .last()
        .click()
      await expect(dialog(page).getByRole('region', { name: 'Lists and cards' })).toBeVisible()
    },
  },
  {
    name: 'templates-save',
    route: '/workspaces/:workspaceId/templates',
    path: (s) => `/workspaces/${s.workspaceId}/templates`,
    ready: (page) => button(page, 'Preview A launch, as we do it').first(),
    steps: async (page) => {
      await button(page, 'Save a board as a template').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'templates-none-of-ones-own',
    route: '/workspaces/:workspaceId/templates',
    person: 'founder',
    path: (s) => `/workspaces/${s.empty.workspaceId}/templates`,
    ready: (page) => page.getByText('No templates yet'),
  },
]
