// The wording of notifications.
import type { Notification } from '../../api/contract'
import type { NotifyingKind } from '../../api/kinds'

/** The actions in notifications about watched cards and boards. An event with null has no specific text. */
const actionTexts: Readonly<Record<NotifyingKind, string | null>> = {
  'card.created': 'added',
  'card.updated': null,
  'card.moved': 'moved',
  'card.completed': 'completed',
  'card.reopened': 'reopened',
  'card.archived': 'archived',
  'card.restored': 'restored',
  'card.assignees_changed': null,
  'card.due_date_changed': 'changed the due date of',
  'card.due': null,
  'comment.added': 'commented on',
  'comment.edited': null,
  'status.posted': 'posted a status update on',
  'board_member.added': null,
}

const dueTexts = { week: 'Due in a week', day: 'Due in a day', hour: 'Due in an hour', due: 'Due' } as const

/** Returns the name of the actor of a notification, or null for a reminder. */
export function actorText(n: Notification): string | null {
  if (n.kind === 'due') return null
  if (n.actor.name) return n.actor.name
  return n.actor.type === 'automation' ? 'An automation' : 'Someone'
}

const watchedText = (kind: string): string =>
  (actionTexts as Readonly<Record<string, string | null | undefined>>)[kind] ?? 'changed something on'

/** Returns the action, which comes between the actor and the subject in the sentence. */
export function actionText(n: Notification): string {
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
      return n.reminder === 'due' && n.card && !n.card.dueAt ? 'Due today' : dueTexts[n.reminder ?? 'due']
    default:
      // If the card was deleted, the subject is its board.
      return [watchedText(n.event), n.event.startsWith('card.') && !n.card ? 'a card on' : ''].filter(Boolean).join(' ')
  }
}

/** Returns the title of the card or, if there is none, the name of the board. */
export const subjectText = (n: Notification): string => n.card?.title ?? n.board.name

/** Returns the text of a Markdown document without its markup. */
export const plainText = (text: string): string =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:#{1,6}|>|[-*+]|\d+\.)\s+/gm, '')
    .replace(/(\*\*|__|~~|`+)(\S(?:.*?\S)?)\1/g, '$2')
    .replace(/\s+/g, ' ')
    .trim()
