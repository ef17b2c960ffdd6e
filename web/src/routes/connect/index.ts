// The server also handles /oauth/authorize. It redirects errors that are meant for the app,
// and serves this page otherwise. The page does not require a sign-in, so that it can
// explain an invalid request to anyone.
export const routes = [
  { path: '/oauth/authorize', load: () => import('./Authorize.svelte'), open: true },
  { path: '/oauth/device', load: () => import('./DeviceSignIn.svelte'), standalone: true },
]
