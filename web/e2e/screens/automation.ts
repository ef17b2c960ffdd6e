import { expect } from '@playwright/test'
import { button, type Screen } from './screen'

const route = '/boards/:boardId/automation'

export const automation: readonly Screen[] = [
  {
    name: 'automation',
    route,
    path: (s) => `/boards/${s.boardId}/automation`,
    ready: (page) => page.getByRole('list', { name: 'Rules' }).getByText('Comment on finished checklists').first(),
  },
  {
    name: 'automation-off',
    route,
    user: 'founder',
    path: (s) => `/boards/${s.empty.boardId}/automation`,
    ready: (page) => page.getByText('Automation is off on this board'),
  },
  {
    name: 'automation-new',
    route: '/boards/:boardId/automation/:ruleId',
    path: (s) => `/boards/${s.boardId}/automation/new?from=mine`,
    ready: (page) => page.getByLabel('Trigger'),
    steps: async (page) => {
      await button(page, 'Test on recent cards').click()
      await expect(page.getByText(/most recently changed cards/)).toBeVisible()
    },
  },
]
