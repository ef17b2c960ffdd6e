// Labels and descriptions of board roles and visibilities.
import type { BoardMember } from '../../api/types'

export type BoardRole = BoardMember['role']

export const roleLabels: Record<BoardRole, { label: string; withArticle: string; text: string }> = {
  admin: { label: 'Admin', withArticle: 'an admin', text: 'Full access, including people and settings.' },
  editor: { label: 'Editor', withArticle: 'an editor', text: 'Can edit lists, cards and labels, and comment.' },
  commenter: { label: 'Commenter', withArticle: 'a commenter', text: 'Can view and comment.' },
  viewer: { label: 'Viewer', withArticle: 'a viewer', text: 'Can view.' },
}

export const roles = Object.keys(roleLabels) as BoardRole[]

export const visibilityLabels = {
  workspace: {
    label: 'Workspace',
    confirmation: 'All workspace members can now edit this board',
    text: 'All workspace members can edit the board. Workspace owners and admins are board admins. Guests must be added.',
  },
  private: {
    label: 'Private',
    confirmation: 'The board is now private',
    text: 'Only people the board is shared with can see it, regardless of their workspace role.',
  },
  confidential: {
    label: 'Confidential',
    confirmation: 'The board is now confidential',
    text: [
      'Private, with no webhooks, no public page and no content in emails. Not included in workspace exports.',
      'Appears in search and dashboards only for its members.',
    ].join(' '),
  },
} as const
