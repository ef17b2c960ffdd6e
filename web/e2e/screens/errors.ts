import { unreachable, type Screen } from './screen'

export const errors: readonly Screen[] = [
  { name: 'not-found', route: '', at: () => '/nowhere' },
  { name: 'unreachable', route: '', at: () => '/', first: unreachable('**/api/app/v1/session') },
  { name: 'not-loaded', route: '', at: () => '/search', first: unreachable('**/assets/Search-*.js') },
]
