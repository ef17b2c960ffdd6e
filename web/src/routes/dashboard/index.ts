export const routes = [{ path: '/workspaces/:workspaceId/dashboard', load: () => import('./Dashboard.svelte') }]
