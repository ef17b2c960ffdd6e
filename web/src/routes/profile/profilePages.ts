export const profilePages = [
  { href: '/profile', label: 'Profile' },
  { href: '/profile/notifications', label: 'Notifications' },
  { href: '/profile/security', label: 'Security' },
  { href: '/profile/tokens', label: 'API tokens' },
  { href: '/profile/apps', label: 'Connected apps' },
] as const
