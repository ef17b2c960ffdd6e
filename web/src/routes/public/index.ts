// Loads no session: guests have none, and members are treated as guests here.
export const routes = [{ path: '/p/:key', load: () => import('./PublicPage.svelte'), open: true, guest: true }]
