// The server also handles /oauth/authorize: it redirects errors that belong to
// the app and serves this page for the rest. The page is open, so that it can
// explain a refused request without a sign-in.
export const routes = [
  { path: '/oauth/authorize', load: () => import('./Authorize.svelte'), open: true },
  { path: '/oauth/device', load: () => import('./DeviceSignIn.svelte'), standalone: true },
]
