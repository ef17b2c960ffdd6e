import { expect } from '@playwright/test'
import { button, type Screen } from './screen'

const route = '/boards/:boardId/automation'

export const automation: readonly Screen[] = [
  {
    name: 'automation',
    route,
    at: (s) => `/boards/${s.boardId}/automation`,
    shows: (page) => page.getByRole('list', { name: 'Rules' }).getByText('Finished steps are told').first(),
  },
  {
    name: 'automation-off',
    route,
    who: 'founder',
    at: (s) => `/boards/${s.empty.boardId}/automation`,
    shows: (page) => page.getByText('Automation is off on this board'),
  },
  {
    name: 'automation-new',
    route: '/boards/:boardId/automation/:ruleId',
    at: (s) => `/boards/${s.boardId}/automation/new?from=mine`,
    shows: (page) => page.getByLabel('Trigger'),
    then: async (page) => {
      await button(page, 'Test on recent cards').click()
      await expect(page.getByText(/most recently changed cards/)).toBeVisible()
    },
  },
]
