// Asks for no session: a guest has none, and a member is a guest here.
export const routes = [{ path: '/p/:key', load: () => import('./PublicPage.svelte'), open: true, guest: true }]
