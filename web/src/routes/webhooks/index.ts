export const routes = [
  { path: '/workspaces/:workspaceId/webhooks', load: () => import('./WorkspaceWebhooks.svelte') },
  { path: '/boards/:boardId/webhooks', load: () => import('./BoardWebhooks.svelte') },
  { path: '/webhooks/:webhookId', load: () => import('./WebhookSettings.svelte') },
  { path: '/webhooks/:webhookId/deliveries', load: () => import('./Deliveries.svelte') },
]
