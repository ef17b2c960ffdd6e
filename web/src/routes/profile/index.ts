export const routes = [
  { path: '/profile', load: () => import('./Profile.svelte') },
  { path: '/profile/security', load: () => import('./Security.svelte') },
  { path: '/profile/tokens', load: () => import('./Tokens.svelte') },
  { path: '/profile/apps', load: () => import('./ConnectedApps.svelte') },
  { path: '/profile/notifications', load: () => import('./NotificationSettings.svelte') },
]
