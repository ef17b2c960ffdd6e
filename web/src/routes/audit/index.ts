export const routes = [{ path: '/workspaces/:workspaceId/audit', load: () => import('./Audit.svelte') }]
