import { unreachable, type Screen } from './screen'

export const errors: readonly Screen[] = [
  { name: 'not-found', fails: true, route: '', at: () => '/nowhere' },
  { name: 'unreachable', fails: true, route: '', at: () => '/', first: unreachable('**/api/app/v1/session/current') },
  { name: 'not-loaded', fails: true, route: '', at: () => '/search', first: unreachable('**/assets/Search-*.js') },
]
