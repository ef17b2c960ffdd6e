// The server answers at /oauth/authorize too: it sends on what a program must be
// told, and shows this page for the rest. It is open so that a request that is
// refused is explained without a sign-in.
export const routes = [
  { path: '/oauth/authorize', load: () => import('./Authorize.svelte'), open: true },
  { path: '/oauth/device', load: () => import('./Device.svelte'), alone: true },
]
