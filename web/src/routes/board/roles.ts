// What a person may do on a board, in words.
import type { BoardMember } from '../../api/types'

export type BoardRole = BoardMember['role']

export const roleWords: Record<BoardRole, { label: string; a: string; text: string }> = {
  admin: { label: 'Admin', a: 'an admin', text: 'Everything: people, settings, trash.' },
  editor: { label: 'Editor', a: 'an editor', text: 'Lists, cards, labels, comments.' },
  commenter: { label: 'Commenter', a: 'a commenter', text: 'Reads and comments.' },
  viewer: { label: 'Viewer', a: 'a viewer', text: 'Reads.' },
}

export const roles = Object.keys(roleWords) as BoardRole[]

export const visibilityWords = {
  workspace: {
    label: 'Workspace',
    now: 'Everyone in the workspace can now see this board',
    text: 'Every member of the workspace sees and edits it; its owners and admins administer it. Guests need to be added.',
  },
  private: {
    label: 'Private',
    now: 'The board is now private',
    text: 'Only the people it is shared with see it, whatever they are in the workspace.',
  },
  confidential: {
    label: 'Confidential',
    now: 'The board is now confidential',
    text: 'Private, and nothing leaves: no webhooks, no public page, no email with content. It is not in exports of the workspace, nor in anybody else’s search and dashboard.',
  },
} as const
