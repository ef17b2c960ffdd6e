// Texts of the activity of a card.
import type { Activity } from '../../api/types'
import type { BoardData } from '../../state/boardData'
import { dueText, wallClock } from '../../state/due'
import { session } from '../../state/session.svelte'
import { listed } from '../board/toastText'

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

/** The names of the rules of a board, by ID. */
export type Rules = ReadonlyMap<string, string>

/** Returns the name of a rule as an author: "Done is done (automation)". */
export const ruleText = (id: string | null, rules: Rules): string => {
  const name = id === null ? undefined : rules.get(id)
  return name === undefined ? 'Automation' : `${name} (automation)`
}

/** Returns who did something, and a text that completes the sentence. */
export function activityText(
  entry: Activity,
  view: BoardData,
  rules: Rules,
): { who: { id: string; name: string }; text: string } {
  const { actor, changes, type } = entry
  const guestName = changes.guestName?.to as string | undefined
  const guest = guestName ? `Guest (${guestName})` : 'A guest'
  const names: Record<string, string> = { automation: ruleText(actor.id, rules), guest, system: 'Cardwall' }
  const id = actor.id ?? actor.type
  const name =
    names[actor.type] ?? view.members.get(id)?.name ?? (id === session.me.id ? session.me.name : 'A former member')
  return { who: { id, name }, text: actionText(type, changes, view, actor.id) }
}

type Changes = Activity['changes']

const idsOf = (value: unknown) => (value as string[] | null | undefined) ?? []

/** Returns the IDs that were added to a field and those that were removed. */
function difference({ from, to }: { from?: unknown; to?: unknown } = {}): { added: string[]; removed: string[] } {
  const [before, after] = [idsOf(from), idsOf(to)]
  return {
    added: after.filter((id) => !before.includes(id)),
    removed: before.filter((id) => !after.includes(id)),
  }
}

/** "the label Bug (red)", "the labels Bug (red) and Idea (lime)", "the green label". */
function labelsText(ids: readonly string[], view: BoardData): string {
  const found = ids.flatMap((id) => view.labels.get(id) ?? [])
  const named = found.filter((label) => label.name).map((label) => `${label.name} (${label.color})`)
  const gone = ids.length - found.length
  return listed([
    ...(named.length > 0 ? [`the ${named.length > 1 ? 'labels' : 'label'} ${listed(named)}`] : []),
    ...found.filter((label) => !label.name).map((label) => `the ${label.color} label`),
    ...(gone > 0 ? [gone === 1 ? 'a deleted label' : `${gone} deleted labels`] : []),
  ])
}

function labelsChanged(changes: Changes, view: BoardData): string {
  const { added, removed } = difference(changes.labels)
  return listed([
    ...(added.length > 0 ? [`added ${labelsText(added, view)}`] : []),
    ...(removed.length > 0 ? [`removed ${labelsText(removed, view)}`] : []),
  ])
}

function assigneesChanged(changes: Changes, view: BoardData, actorId: string | null): string {
  const { added, removed } = difference(changes.assignees)
  const names = (ids: string[]) =>
    listed(ids.map((id) => (id === actorId ? 'themselves' : (view.members.get(id)?.name ?? 'a former member'))))
  return listed([
    ...(added.length > 0 ? [`assigned ${names(added)}`] : []),
    ...(removed.length > 0 ? [`unassigned ${names(removed)}`] : []),
  ])
}

/** Describes a change of the due or start date, with the time of day if there is one. */
function dateChanged(changes: Changes, what: 'due' | 'start'): string | null {
  const [date, at] = [changes[`${what}Date`], changes[`${what}At`]]
  if (!date && !at) return null
  if (date && !date.to) return `removed the ${what} date`
  const zone = session.me.timeZone
  const instant = at?.to as string | null | undefined
  const day = (date?.to as string | undefined) ?? (instant ? wallClock(new Date(instant), zone).date : undefined)
  if (!day) return `removed the time from the ${what} date`
  return `set the ${what} date to ${dueText({ dueDate: day, dueAt: instant ?? null }, new Date(), zone)}`
}

function actionText(type: string, changes: Changes, view: BoardData, actorId: string | null): string {
  const to = (field: string) => changes[field]?.to as string | null | undefined
  const from = (field: string) => changes[field]?.from as string | null | undefined
  const list = (id: string | null | undefined) => (id && view.lists.get(id)?.name) || 'another list'
  switch (type) {
    case 'card.created':
      return `added this card to ${list(to('listId'))}`
    case 'card.moved':
      return `moved this card from ${list(from('listId'))} to ${list(to('listId'))}`
    case 'card.reordered':
      return 'moved this card within the list'
    case 'card.completed':
      return 'marked this card as done'
    case 'card.reopened':
      return 'marked this card as not done'
    case 'card.archived':
      return 'archived this card'
    case 'card.restored':
      return 'restored this card'
    case 'card.updated':
      return changes.title ? `renamed this card to “${to('title')}”` : 'changed the description'
    case 'card.assignees_changed':
      return assigneesChanged(changes, view, actorId)
    case 'card.labels_changed':
      return labelsChanged(changes, view)
    case 'card.due_date_changed':
      return (
        listed([dateChanged(changes, 'due'), dateChanged(changes, 'start')].filter((text) => text !== null)) ||
        'changed the time zone of the dates'
      )
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
