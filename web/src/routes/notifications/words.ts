import type { Notification } from '../../api/contract'

const deeds: Record<string, string> = {
  'card.created': 'added a card',
  'card.moved': 'moved a card',
  'card.completed': 'finished a card',
  'card.reopened': 'reopened a card',
  'card.archived': 'archived a card',
  'card.restored': 'restored a card',
  'card.due_date_changed': 'changed a due date',
  'comment.added': 'commented',
  'status.posted': 'posted a status update',
}

const nearness = { week: 'Due in a week', day: 'Due in a day', hour: 'Due in an hour', due: 'Due' } as const

/** Who caused it, in a word; null where nobody did. */
export function who(n: Notification): string | null {
  if (n.kind === 'due') return null
  if (n.actor.name) return n.actor.name
  return n.actor.type === 'automation' ? 'An automation' : 'Somebody'
}

/** What happened, to stand behind who caused it. */
export function deed(n: Notification): string {
  switch (n.kind) {
    case 'mention':
      return 'mentioned you'
    case 'assignment':
      return 'assigned you'
    case 'invitation':
      return 'shared a board with you'
    case 'comment':
      return 'commented'
    case 'due':
      return n.reminder === 'due' && n.card && !n.card.dueAt ? 'Due today' : nearness[n.reminder ?? 'due']
    default:
      return deeds[n.event] ?? 'changed something'
  }
}

/** What it is about: the card, or else the board. */
export const subject = (n: Notification): string => n.card?.title ?? n.board.name

/** The words of a Markdown text, without its marks. */
export const plain = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+\.)\s+/gm, '')
    .replace(/(\*\*|__|~~|`+)(\S(?:.*?\S)?)\1/g, '$2')
    .replace(/\s+/g, ' ')
    .trim()
