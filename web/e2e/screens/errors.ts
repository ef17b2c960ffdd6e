import { unreachable, type Screen } from './screen'

export const errors: readonly Screen[] = [
  { name: 'not-found', expectFailures: true, route: '', path: () => '/nowhere' },
  {
    name: 'unreachable',
    expectFailures: true,
    route: '',
    path: () => '/',
    prepare: unreachable('**/api/app/v1/session/current'),
  },
  {
    name: 'not-loaded',
    expectFailures: true,
    route: '',
    path: () => '/search',
    prepare: unreachable('**/assets/Search-*.js'),
  },
]
