// This route does not load the session, because members are treated as guests here too.
export const routes = [{ path: '/p/:key', load: () => import('./PublicPage.svelte'), open: true, guest: true }]
