export const routes = [{ path: '/workspaces/:workspaceId/templates', load: () => import('./Templates.svelte') }]
