// Labels of the roles and visibilities of a board.
import type { BoardMember } from '../../api/types'

export type BoardRole = BoardMember['role']

export const roleLabels: Record<BoardRole, { label: string; a: string; text: string }> = {
  admin: { label: 'Admin', a: 'an admin', text: 'Can change everything, including people and settings.' },
  editor: { label: 'Editor', a: 'an editor', text: 'Can change lists, cards and labels, and comment.' },
  commenter: { label: 'Commenter', a: 'a commenter', text: 'Can view and comment.' },
  viewer: { label: 'Viewer', a: 'a viewer', text: 'Can view.' },
}

export const roles = Object.keys(roleLabels) as BoardRole[]

export const visibilityLabels = {
  workspace: {
    label: 'Workspace',
    now: 'Everyone in the workspace can now see this board',
    text: 'All members of the workspace can edit it. Owners and admins of the workspace are its admins. Guests must be added.',
  },
  private: {
    label: 'Private',
    now: 'The board is now private',
    text: 'Only people it is shared with can see it, whatever their role in the workspace.',
  },
  confidential: {
    label: 'Confidential',
    now: 'The board is now confidential',
    text: [
      'Private, with no webhooks, no public page and no content in emails. It is left out of workspace exports.',
      'Only its members find it in search and dashboards.',
    ].join(' '),
  },
} as const
