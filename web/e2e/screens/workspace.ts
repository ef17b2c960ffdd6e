import type { Screen } from './screen'

// The jobs are mocked, because a copy becomes a job only with thousands of cards.
const finishedJob = {
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
    path: (s) => `/workspaces/${s.workspaceId}/members`,
    ready: (page) => page.getByText('Jonas Lindqvist'),
  },
  {
    name: 'members-invite',
    route: '/workspaces/:workspaceId/members',
    path: (s) => `/workspaces/${s.workspaceId}/members`,
    ready: (page) => page.getByText('Jonas Lindqvist'),
    steps: (page) =>
      page
        .getByRole('textbox')
        .first()
        .fill('Lena <lena@example.com>, tom@example.com, jonas@example.com, not an address'),
  },
  {
    name: 'members-single',
    route: '/workspaces/:workspaceId/members',
    user: 'founder',
    path: (s) => `/workspaces/${s.empty.workspaceId}/members`,
  },
  {
    name: 'archive',
    route: '/workspaces/:workspaceId/archive',
    path: (s) => `/workspaces/${s.workspaceId}/archive`,
    ready: (page) => page.getByText('Spring campaign').last(),
  },
  {
    name: 'archive-of-a-board',
    route: '/workspaces/:workspaceId/archive',
    path: (s) => `/workspaces/${s.workspaceId}/archive?board=${s.boardId}`,
    ready: (page) => page.getByText('Postcards for long-time customers'),
  },
  {
    name: 'archive-empty',
    route: '/workspaces/:workspaceId/archive',
    user: 'founder',
    path: (s) => `/workspaces/${s.empty.workspaceId}/archive`,
    ready: (page) => page.getByText('No archived boards'),
  },
  {
    name: 'trash',
    route: '/workspaces/:workspaceId/trash',
    path: (s) => `/workspaces/${s.workspaceId}/trash`,
    ready: (page) => page.getByText('Old newsletter'),
  },
  {
    name: 'trash-empty',
    route: '/workspaces/:workspaceId/trash',
    user: 'founder',
    path: (s) => `/workspaces/${s.empty.workspaceId}/trash`,
    ready: (page) => page.getByText('The trash is empty'),
  },
  {
    name: 'board-archive',
    route: '/boards/:boardId/archive',
    path: (s) => `/boards/${s.boardId}/archive`,
    ready: (page) => page.getByRole('heading', { level: 1, name: 'Archive' }),
  },
  {
    name: 'workspace-settings',
    route: '/workspaces/:workspaceId/settings',
    path: (s) => `/workspaces/${s.workspaceId}/settings`,
    ready: (page) => page.getByRole('heading', { level: 1, name: 'Settings' }),
  },
  {
    name: 'import',
    route: '/workspaces/:workspaceId/import',
    path: (s) => `/workspaces/${s.workspaceId}/import`,
    ready: (page) => page.getByText('Download').first(),
  },
  {
    name: 'import-jobs',
    route: '/workspaces/:workspaceId/import',
    prepare: (page) =>
      page.route('**/workspaces/*/jobs?*', (route) =>
        route.fulfill({
          json: {
            data: [
              {
                ...finishedJob,
                id: 'job_1',
                state: 'failed',
                error: { code: 'limit_reached', message: 'It is too large.' },
              },
              { ...finishedJob, id: 'job_2', state: 'cancelled' },
              { ...finishedJob, id: 'job_3', kind: 'import_board', boardIds: ['brd_1'] },
            ],
          },
        }),
      ),
    path: (s) => `/workspaces/${s.workspaceId}/import`,
    ready: (page) => page.getByText('It is too large.'),
  },
]
