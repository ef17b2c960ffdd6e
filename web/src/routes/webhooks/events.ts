// Labels of the event kinds that a webhook can subscribe to.
export type EventKind = { kind: string; label: string }

export const eventGroups: readonly { name: string; events: readonly EventKind[] }[] = [
  {
    name: 'Cards',
    events: [
      { kind: 'card.created', label: 'A card is created' },
      { kind: 'card.updated', label: 'A title or description changes' },
      { kind: 'card.moved', label: 'A card moves to another list' },
      { kind: 'card.completed', label: 'A card is marked done' },
      { kind: 'card.reopened', label: 'A card is marked not done' },
      { kind: 'card.archived', label: 'A card is archived' },
      { kind: 'card.restored', label: 'A card is restored' },
    ],
  },
  {
    name: 'Card contents',
    events: [
      { kind: 'card.assignees_changed', label: 'People are added or removed' },
      { kind: 'card.labels_changed', label: 'Labels change' },
      { kind: 'card.due_date_changed', label: 'The due date changes' },
      { kind: 'comment.added', label: 'Someone comments' },
      { kind: 'checklist_item.completed', label: 'A checklist item is done' },
    ],
  },
  {
    name: 'Lists and boards',
    events: [
      { kind: 'list.created', label: 'A list is created' },
      { kind: 'list.archived', label: 'A list is archived' },
      { kind: 'status.posted', label: 'A status update is posted' },
    ],
  },
]

/** All kinds that can be selected. The test event is always sent. */
export const eventKinds: readonly string[] = eventGroups.flatMap((g) => g.events.map((e) => e.kind))

const short: Record<string, string> = {
  'card.created': 'Card created',
  'card.updated': 'Card changed',
  'card.moved': 'Card moved',
  'card.completed': 'Card done',
  'card.reopened': 'Card not done',
  'card.archived': 'Card archived',
  'card.restored': 'Card restored',
  'card.assignees_changed': 'People changed',
  'card.labels_changed': 'Labels changed',
  'card.due_date_changed': 'Due date changed',
  'comment.added': 'Comment added',
  'checklist_item.completed': 'Checklist item done',
  'list.created': 'List created',
  'list.archived': 'List archived',
  'status.posted': 'Status update posted',
  'webhook.test': 'Test event',
}

/** Returns a short text for an event kind. */
export const eventText = (kind: string): string => short[kind] ?? kind

/** "All events", "Card created and card moved", "Card created, card moved and 3 more". */
export function eventsText(kinds: readonly string[]): string {
  const asked = kinds.filter((k) => k !== 'webhook.test')
  if (asked.length === eventKinds.length) return 'All events'
  if (asked.length === 0) return 'Test events only'
  const words = asked.slice(0, asked.length > 3 ? 2 : 3).map((k, i) => (i ? lower(eventText(k)) : eventText(k)))
  const rest = asked.length - words.length
  if (rest > 0) words.push(`${rest} more`)
  return words.length === 1 ? words[0]! : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
