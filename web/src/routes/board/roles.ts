// What a person may do on a board, in words.
import type { BoardMember } from '../../api/types'

export type BoardRole = BoardMember['role']

export const roleWords: Record<BoardRole, { label: string; text: string }> = {
  admin: { label: 'Admin', text: 'Everything: people, settings, trash.' },
  editor: { label: 'Editor', text: 'Lists, cards, labels, comments.' },
  commenter: { label: 'Commenter', text: 'Reads and comments.' },
  viewer: { label: 'Viewer', text: 'Reads.' },
}

export const roles = Object.keys(roleWords) as BoardRole[]

export const visibilityWords = {
  workspace: {
    label: 'Workspace',
    text: 'Every member of the workspace sees and edits it; its owners and admins administer it. Guests need to be added.',
  },
  private: { label: 'Private', text: 'Only the people it is shared with see it, whatever they are in the workspace.' },
  confidential: {
    label: 'Confidential',
    text: 'Private, and nothing leaves: no webhooks, no public page, no email with content. It is not in exports of the workspace, nor in anybody else’s search and dashboard.',
  },
} as const
