import type { Screen } from './screen'

// A copy that takes two seconds needs thousands of cards, so the jobs are made up.
const ended = {
  kind: 'copy_board',
  state: 'done',
  name: 'Launch in May',
  done: 0,
  total: 0,
  boardIds: [],
  report: null,
  error: null,
  createdAt: new Date().toISOString(),
}

export const workspace: readonly Screen[] = [
  {
    name: 'members',
    route: '/workspaces/:workspaceId/members',
    at: (s) => `/workspaces/${s.workspaceId}/members`,
    shows: (page) => page.getByText('Jonas Lindqvist'),
  },
  {
    name: 'members-invite',
    route: '/workspaces/:workspaceId/members',
    at: (s) => `/workspaces/${s.workspaceId}/members`,
    shows: (page) => page.getByText('Jonas Lindqvist'),
    then: (page) =>
      page
        .getByRole('textbox')
        .first()
        .fill('Lena <lena@example.com>, tom@example.com, jonas@example.com, not an address'),
  },
  {
    name: 'members-alone',
    route: '/workspaces/:workspaceId/members',
    who: 'founder',
    at: (s) => `/workspaces/${s.empty.workspaceId}/members`,
  },
  {
    name: 'archive',
    route: '/workspaces/:workspaceId/archive',
    at: (s) => `/workspaces/${s.workspaceId}/archive`,
    shows: (page) => page.getByText('Spring campaign').last(),
  },
  {
    name: 'archive-of-a-board',
    route: '/workspaces/:workspaceId/archive',
    at: (s) => `/workspaces/${s.workspaceId}/archive?board=${s.boardId}`,
    shows: (page) => page.getByText('Postcards for the old customers'),
  },
  {
    name: 'archive-empty',
    route: '/workspaces/:workspaceId/archive',
    who: 'founder',
    at: (s) => `/workspaces/${s.empty.workspaceId}/archive`,
    shows: (page) => page.getByText('No archived boards'),
  },
  {
    name: 'trash',
    route: '/workspaces/:workspaceId/trash',
    at: (s) => `/workspaces/${s.workspaceId}/trash`,
    shows: (page) => page.getByText('Old newsletter'),
  },
  {
    name: 'trash-empty',
    route: '/workspaces/:workspaceId/trash',
    who: 'founder',
    at: (s) => `/workspaces/${s.empty.workspaceId}/trash`,
    shows: (page) => page.getByText('The trash is empty'),
  },
  {
    name: 'archive-at-its-board',
    route: '/boards/:boardId/archive',
    at: (s) => `/boards/${s.boardId}/archive`,
    shows: (page) => page.getByRole('heading', { level: 1, name: 'Archive' }),
  },
  {
    name: 'settings-of-a-workspace',
    route: '/workspaces/:workspaceId/settings',
    at: (s) => `/workspaces/${s.workspaceId}/settings`,
    shows: (page) => page.getByRole('heading', { level: 1, name: 'Settings' }),
  },
  {
    name: 'import',
    route: '/workspaces/:workspaceId/import',
    at: (s) => `/workspaces/${s.workspaceId}/import`,
    shows: (page) => page.getByText('Download').first(),
  },
  {
    name: 'import-imports-and-copies',
    route: '/workspaces/:workspaceId/import',
    first: (page) =>
      page.route('**/workspaces/*/jobs?*', (route) =>
        route.fulfill({
          json: {
            data: [
              { ...ended, id: 'job_1', state: 'failed', error: { code: 'limit_reached', message: 'It is too large.' } },
              { ...ended, id: 'job_2', state: 'cancelled' },
              { ...ended, id: 'job_3', kind: 'import_board', boardIds: ['brd_1'] },
            ],
          },
        }),
      ),
    at: (s) => `/workspaces/${s.workspaceId}/import`,
    shows: (page) => page.getByText('It is too large.'),
  },
]
