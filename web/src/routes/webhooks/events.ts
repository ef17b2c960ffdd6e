// Labels and groups of the event kinds that a webhook can subscribe to.
import { webhookLabels, type WebhookKind } from '../../api/kinds'

export type EventKind = { kind: string; label: string }

const groupNames = ['Cards', 'Card contents', 'Lists and boards'] as const

/** The group of each kind in the picker. Test events are always sent, so they have no group. */
const groups: Readonly<Record<WebhookKind, (typeof groupNames)[number] | null>> = {
  'card.created': 'Cards',
  'card.updated': 'Cards',
  'card.moved': 'Cards',
  'card.completed': 'Cards',
  'card.reopened': 'Cards',
  'card.archived': 'Cards',
  'card.restored': 'Cards',
  'card.assignees_changed': 'Card contents',
  'card.labels_changed': 'Card contents',
  'card.due_date_changed': 'Card contents',
  'comment.added': 'Card contents',
  'checklist_item.completed': 'Card contents',
  'list.created': 'Lists and boards',
  'list.archived': 'Lists and boards',
  'status.posted': 'Lists and boards',
  'webhook.test': null,
}

const kinds = Object.keys(webhookLabels) as WebhookKind[]

export const eventGroups: readonly { name: string; events: readonly EventKind[] }[] = groupNames.map((name) => ({
  name,
  events: kinds.filter((kind) => groups[kind] === name).map((kind) => ({ kind, label: webhookLabels[kind].label })),
}))

/** All kinds that can be selected. Test events are always sent. */
export const eventKinds: readonly string[] = eventGroups.flatMap((g) => g.events.map((e) => e.kind))

/** Returns the short label of an event kind. */
export const eventText = (kind: string): string =>
  (webhookLabels as Readonly<Record<string, { short: string } | undefined>>)[kind]?.short ?? kind

/** Summarizes event kinds: "All events", "Card created and card moved", "Card created, card moved and 3 more". */
export function eventsText(kinds: readonly string[]): string {
  const selected = kinds.filter((k) => k !== 'webhook.test')
  if (selected.length === eventKinds.length) return 'All events'
  if (selected.length === 0) return 'Test events only'
  const texts = selected
    .slice(0, selected.length > 3 ? 2 : 3)
    .map((k, i) => (i ? lowerFirst(eventText(k)) : eventText(k)))
  const rest = selected.length - texts.length
  if (rest > 0) texts.push(`${rest} more`)
  return texts.length === 1 ? texts[0]! : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
