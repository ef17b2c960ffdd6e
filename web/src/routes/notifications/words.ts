import type { Notification } from '../../api/contract'

const deeds: Record<string, string> = {
  'card.created': 'added',
  'card.moved': 'moved',
  'card.completed': 'completed',
  'card.reopened': 'reopened',
  'card.archived': 'archived',
  'card.restored': 'restored',
  'card.due_date_changed': 'changed the due date of',
  'comment.added': 'commented on',
  'status.posted': 'posted a status update on',
}

const nearness = { week: 'Due in a week', day: 'Due in a day', hour: 'Due in an hour', due: 'Due' } as const

/** Who caused it, in a word; null where nobody did. */
export function who(n: Notification): string | null {
  if (n.kind === 'due') return null
  if (n.actor.name) return n.actor.name
  return n.actor.type === 'automation' ? 'An automation' : 'Somebody'
}

/** What happened, to stand between who caused it and what it is about. */
export function deed(n: Notification): string {
  switch (n.kind) {
    case 'mention':
      return 'mentioned you on'
    case 'assignment':
      return 'assigned you to'
    case 'invitation':
      return 'invited you to'
    case 'comment':
      return 'commented on'
    case 'due':
      return n.reminder === 'due' && n.card && !n.card.dueAt ? 'Due today' : nearness[n.reminder ?? 'due']
    default:
      // Of a card that is gone only the board is left to name.
      return [deeds[n.event] ?? 'changed something on', n.event.startsWith('card.') && !n.card ? 'a card on' : '']
        .filter(Boolean)
        .join(' ')
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
