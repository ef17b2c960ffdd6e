// The server answers at /oauth/authorize too: it sends on what a program must be
// told, and shows this page for the rest.
export const routes = [
  { path: '/oauth/authorize', load: () => import('./Authorize.svelte'), alone: true },
  { path: '/oauth/device', load: () => import('./Device.svelte'), alone: true },
]
