// Pages that span boards: plans, organizations, status updates, saved filters and templates.
import { expect } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

export const crossBoard: readonly Screen[] = [
  {
    name: 'plan',
    route: '/workspaces/:workspaceId/plan',
    path: (s) => `/workspaces/${s.workspaceId}/plan`,
    ready: (page) => page.getByRole('heading', { name: 'All plans' }),
  },
  {
    name: 'plan-of-a-new-organization',
    route: '/workspaces/:workspaceId/plan',
    user: 'founder',
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
    name: 'organizations-no-matches',
    route: '/organizations',
    path: () => '/organizations?q=zeppelin',
    ready: (page) => page.getByText('No matching organizations').last(),
  },
  {
    name: 'organizations-without-permission',
    route: '/organizations',
    user: 'founder',
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
    name: 'status-updates-new',
    route: '/boards/:boardId/status',
    path: (s) => `/boards/${s.boardId}/status`,
    ready: (page) => page.getByRole('article').first(),
    steps: async (page) => {
      await button(page, 'Write update').click()
      await expect(page.getByText('Draft from')).toBeVisible()
    },
  },
  {
    name: 'status-updates-empty',
    route: '/boards/:boardId/status',
    user: 'founder',
    path: (s) => `/boards/${s.empty.boardId}/status`,
    ready: (page) => page.getByText('No status updates yet'),
  },
  {
    name: 'filter-table',
    route: '/saved-filters/:filterId',
    path: (s) => `/saved-filters/${s.filters.valid}`,
    ready: (page) => page.getByRole('gridcell').first(),
  },
  {
    name: 'filter-table-labels',
    route: '/saved-filters/:filterId',
    path: (s) => `/saved-filters/${s.filters.valid}`,
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
    ready: (page) => button(page, 'Preview Launch template').first(),
  },
  {
    name: 'templates-preview',
    route: '/workspaces/:workspaceId/templates',
    path: (s) => `/workspaces/${s.workspaceId}/templates`,
    ready: (page) => button(page, 'Preview Launch template').first(),
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
    ready: (page) => button(page, 'Preview Launch template').first(),
    steps: async (page) => {
      await button(page, 'Save a board as a template').click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'templates-empty',
    route: '/workspaces/:workspaceId/templates',
    user: 'founder',
    path: (s) => `/workspaces/${s.empty.workspaceId}/templates`,
    ready: (page) => page.getByText('No templates yet'),
  },
]
