export const routes = [
  { path: '/workspaces/:workspaceId/webhooks', load: () => import('./WorkspaceWebhooks.svelte') },
  { path: '/boards/:boardId/webhooks', load: () => import('./BoardWebhooks.svelte') },
  { path: '/webhooks/:webhookId', load: () => import('./Settings.svelte') },
  { path: '/webhooks/:webhookId/deliveries', load: () => import('./Deliveries.svelte') },
]
