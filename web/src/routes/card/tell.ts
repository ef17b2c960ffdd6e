// Entries of the activity in words.
import type { Activity } from '../../api/types'
import type { BoardData } from '../../state/board-data'
import { dayText } from '../../state/due'
import { session } from '../../state/session.svelte'

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export function ago(at: string, now: Date): string {
  const seconds = (Date.parse(at) - now.getTime()) / 1000
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit)
  }
  return 'just now'
}

/** The rules of a board, by id. */
export type Rules = ReadonlyMap<string, string>

/** "Done is done (automation)". */
export const ruleText = (id: string | null, rules: Rules): string => {
  const name = id === null ? undefined : rules.get(id)
  return name === undefined ? 'Automation' : `${name} (automation)`
}

export function tell(
  entry: Activity,
  view: BoardData,
  rules: Rules,
): { who: { id: string; name: string }; text: string } {
  const { actor, changes, type } = entry
  const called = changes.guestName?.to as string | undefined
  const guest = called ? `Guest (${called})` : 'A guest'
  const names: Record<string, string> = { automation: ruleText(actor.id, rules), guest, system: 'Cardwall' }
  const id = actor.id ?? actor.type
  const name =
    names[actor.type] ?? view.members.get(id)?.name ?? (id === session.me.id ? session.me.name : 'A former member')
  return { who: { id, name }, text: what(type, changes, view) }
}

function what(type: string, changes: Activity['changes'], view: BoardData): string {
  const to = (field: string) => changes[field]?.to as string | null | undefined
  const from = (field: string) => changes[field]?.from as string | null | undefined
  const list = (id: string | null | undefined) => (id && view.lists.get(id)?.name) || 'another list'
  const ids = (value: unknown) => (value as string[] | null | undefined) ?? []
  const difference = (field: string, nameOf: (id: string) => string) => {
    const before = ids(changes[field]?.from)
    const after = ids(changes[field]?.to)
    const plus = after.filter((one) => !before.includes(one)).map(nameOf)
    const minus = before.filter((one) => !after.includes(one)).map(nameOf)
    return [plus.length && `added ${plus.join(', ')}`, minus.length && `removed ${minus.join(', ')}`]
      .filter(Boolean)
      .join(' and ')
  }
  switch (type) {
    case 'card.created':
      return `added this card to ${list(to('listId'))}`
    case 'card.moved':
      return `moved it from ${list(from('listId'))} to ${list(to('listId'))}`
    case 'card.reordered':
      return 'gave it another place'
    case 'card.completed':
      return 'marked it as done'
    case 'card.reopened':
      return 'marked it as not done'
    case 'card.archived':
      return 'archived it'
    case 'card.restored':
      return 'restored it'
    case 'card.updated':
      return changes.title ? `renamed it to “${to('title')}”` : 'changed the description'
    case 'card.assignees_changed':
      return difference('assignees', (id) => view.members.get(id)?.name ?? 'somebody')
    case 'card.labels_changed':
      return difference('labels', (id) => view.labels.get(id)?.name || 'a label')
    case 'card.due_date_changed':
      return to('dueDate')
        ? `set it due ${dayText(to('dueDate')!, new Date(), session.me.timeZone)}`
        : 'changed the dates'
    case 'checklist.added':
      return `added the checklist ${to('title')}`
    case 'checklist.deleted':
      return `deleted the checklist ${from('title')}`
    case 'checklist_item.added':
      return `added the item ${to('title')}`
    case 'checklist_item.completed':
      return 'checked an item'
    case 'checklist_item.deleted':
      return `deleted the item ${from('title')}`
    default:
      return 'changed a checklist'
  }
}
