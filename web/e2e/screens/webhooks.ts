import { expect } from '@playwright/test'
import { button, dialog, type Screen } from './screen'

export const webhooks: readonly Screen[] = [
  {
    name: 'webhooks',
    route: '/workspaces/:workspaceId/webhooks',
    path: (s) => `/workspaces/${s.workspaceId}/webhooks`,
    ready: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'webhooks-empty',
    route: '/workspaces/:workspaceId/webhooks',
    user: 'founder',
    path: (s) => `/workspaces/${s.empty.workspaceId}/webhooks`,
    ready: (page) => page.getByText('No webhooks yet'),
  },
  {
    name: 'webhooks-of-a-board',
    route: '/boards/:boardId/webhooks',
    path: (s) => `/boards/${s.boardId}/webhooks`,
    ready: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'webhook-new',
    route: '/boards/:boardId/webhooks',
    path: (s) => `/boards/${s.boardId}/webhooks`,
    ready: (page) => page.getByText('Deploy bot').first(),
    steps: async (page) => {
      await button(page, 'New webhook').first().click()
      await expect(dialog(page)).toBeVisible()
    },
  },
  {
    name: 'webhook',
    route: '/webhooks/:webhookId',
    path: (s) => `/webhooks/${s.webhookId}`,
    ready: (page) => page.getByText('Deploy bot').first(),
  },
  {
    name: 'webhook-edit',
    route: '/webhooks/:webhookId',
    path: (s) => `/webhooks/${s.webhookId}`,
    ready: (page) => page.getByText('Deploy bot').first(),
    steps: async (page) => {
      await button(page, 'Edit headers').click()
      await dialog(page).getByRole('button', { name: 'Replace value' }).last().click()
      await expect(dialog(page).getByLabel('Header value')).toBeFocused()
    },
  },
  {
    name: 'deliveries',
    route: '/webhooks/:webhookId/deliveries',
    path: (s) => `/webhooks/${s.webhookId}/deliveries`,
    ready: (page) => page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem').first(),
  },
  {
    name: 'audit',
    route: '/workspaces/:workspaceId/audit',
    path: (s) => `/workspaces/${s.workspaceId}/audit`,
    ready: (page) => page.getByRole('list', { name: 'Entries' }).getByRole('listitem').first(),
  },
]
