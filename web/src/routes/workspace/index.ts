export const routes = [
  { path: '/workspaces/:workspaceId/members', load: () => import('./Members.svelte') },
  { path: '/workspaces/:workspaceId/archive', load: () => import('./Archive.svelte') },
  { path: '/workspaces/:workspaceId/trash', load: () => import('./Trash.svelte') },
  { path: '/workspaces/:workspaceId/import', load: () => import('./Import.svelte') },
  { path: '/workspaces/:workspaceId/settings', load: () => import('./WorkspaceSettings.svelte') },
]
