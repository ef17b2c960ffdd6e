import { expect } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

export const webhooks: readonly Screen[] = [
  {
    name: 'webhooks',
    route: '/workspaces/:workspaceId/webhooks',
    at: (s) => `/workspaces/${s.workspaceId}/webhooks`,
    shows: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'webhooks-none',
    route: '/workspaces/:workspaceId/webhooks',
    who: 'founder',
    at: (s) => `/workspaces/${s.empty.workspaceId}/webhooks`,
    shows: (page) => page.getByText('No webhooks yet'),
  },
  {
    name: 'webhooks-of-a-board',
    route: '/boards/:boardId/webhooks',
    at: (s) => `/boards/${s.boardId}/webhooks`,
    shows: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'webhook-new',
    route: '/boards/:boardId/webhooks',
    at: (s) => `/boards/${s.boardId}/webhooks`,
    shows: (page) => page.getByText('Deploy bot').first(),
    then: async (page) => {
      await button(page, 'New webhook').first().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'webhook',
    route: '/webhooks/:webhookId',
    at: (s) => `/webhooks/${s.webhookId}`,
    shows: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'deliveries',
    route: '/webhooks/:webhookId/deliveries',
    at: (s) => `/webhooks/${s.webhookId}/deliveries`,
    shows: (page) => page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem').first(),
  },
  {
    name: 'audit',
    route: '/workspaces/:workspaceId/audit',
    at: (s) => `/workspaces/${s.workspaceId}/audit`,
    shows: (page) => page.getByRole('list', { name: 'Entries' }).getByRole('listitem').first(),
  },
]
