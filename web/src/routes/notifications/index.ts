export const routes = [
  { path: '/notifications', load: () => import('./Notifications.svelte') },
  { path: '/unsubscribe', load: () => import('./Unsubscribe.svelte'), open: true },
]
