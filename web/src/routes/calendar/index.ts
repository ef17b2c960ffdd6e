export const routes = [{ path: '/workspaces/:workspaceId/calendar', load: () => import('./CalendarRoute.svelte') }]
