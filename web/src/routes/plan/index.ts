export const routes = [
  { path: '/workspaces/:workspaceId/plan', load: () => import('./Plan.svelte') },
  { path: '/organizations', load: () => import('./Organizations.svelte') },
]
