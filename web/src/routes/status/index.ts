export const routes = [{ path: '/boards/:boardId/status', load: () => import('./StatusUpdates.svelte') }]
