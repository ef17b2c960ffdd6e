// Sentences that describe the activity of a card.
import type { ActivityKind } from '../../api/kinds'
import type { Activity } from '../../api/types'
import type { BoardData } from '../../state/boardData'
import { dueText, wallClock } from '../../state/due'
import { session } from '../../state/session.svelte'
import { joinNames } from '../board/toastText'

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Formats an instant relative to now: "just now", "5 minutes ago", "yesterday". */
export function ago(at: string, now: Date): string {
  const seconds = (Date.parse(at) - now.getTime()) / 1000
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit)
  }
  return 'just now'
}

/** The names of the rules of a board, by ID. */
export type Rules = ReadonlyMap<string, string>

/** Returns the author name for a rule: "Close done cards (automation)". */
export const ruleText = (id: string | null, rules: Rules): string => {
  const name = id === null ? undefined : rules.get(id)
  return name === undefined ? 'Automation' : `${name} (automation)`
}

/** Returns the actor of an entry, and the text that completes the sentence after the actor’s name. */
export function activityText(
  entry: Activity,
  view: BoardData,
  rules: Rules,
): { actor: { id: string; name: string }; text: string } {
  const { actor, changes, type } = entry
  const guestName = changes.guestName?.to as string | undefined
  const guest = guestName ? `Guest (${guestName})` : 'A guest'
  const names: Record<string, string> = { automation: ruleText(actor.id, rules), guest, system: 'Cardwall' }
  const id = actor.id ?? actor.type
  const name =
    names[actor.type] ?? view.members.get(id)?.name ?? (id === session.me.id ? session.me.name : 'A former member')
  const via = actor.client ? `via ${actor.client} ` : ''
  return { actor: { id, name }, text: via + actionText(type, changes, view, actor.id) }
}

type Changes = Activity['changes']

const idsOf = (value: unknown) => (value as string[] | null | undefined) ?? []

/** Returns the IDs that a change added and removed. */
function difference({ from, to }: { from?: unknown; to?: unknown } = {}): { added: string[]; removed: string[] } {
  const [before, after] = [idsOf(from), idsOf(to)]
  return {
    added: after.filter((id) => !before.includes(id)),
    removed: before.filter((id) => !after.includes(id)),
  }
}

/** Describes labels: "the label Bug (red)", "the labels Bug (red) and Idea (lime)", "the green label". */
function labelsText(ids: readonly string[], view: BoardData): string {
  const found = ids.flatMap((id) => view.labels.get(id) ?? [])
  const named = found.filter((label) => label.name).map((label) => `${label.name} (${label.color})`)
  const deleted = ids.length - found.length
  return joinNames([
    ...(named.length > 0 ? [`the ${named.length > 1 ? 'labels' : 'label'} ${joinNames(named)}`] : []),
    ...found.filter((label) => !label.name).map((label) => `the ${label.color} label`),
    ...(deleted > 0 ? [deleted === 1 ? 'a deleted label' : `${deleted} deleted labels`] : []),
  ])
}

function labelChangeText(changes: Changes, view: BoardData): string {
  const { added, removed } = difference(changes.labels)
  return joinNames([
    ...(added.length > 0 ? [`added ${labelsText(added, view)}`] : []),
    ...(removed.length > 0 ? [`removed ${labelsText(removed, view)}`] : []),
  ])
}

function assigneeChangeText(changes: Changes, view: BoardData, actorId: string | null): string {
  const { added, removed } = difference(changes.assignees)
  const names = (ids: string[]) =>
    joinNames(ids.map((id) => (id === actorId ? 'themselves' : (view.members.get(id)?.name ?? 'a former member'))))
  return joinNames([
    ...(added.length > 0 ? [`assigned ${names(added)}`] : []),
    ...(removed.length > 0 ? [`unassigned ${names(removed)}`] : []),
  ])
}

/** Describes a change of the due or start date, including the time of day. Returns null if neither has changed. */
function dateChangeText(changes: Changes, field: 'due' | 'start'): string | null {
  const [date, at] = [changes[`${field}Date`], changes[`${field}At`]]
  if (!date && !at) return null
  if (date && !date.to) return `removed the ${field} date`
  const zone = session.me.timeZone
  const instant = at?.to as string | null | undefined
  const day = (date?.to as string | undefined) ?? (instant ? wallClock(new Date(instant), zone).date : undefined)
  if (!day) return `removed the time from the ${field} date`
  return `set the ${field} date to ${dueText({ dueDate: day, dueAt: instant ?? null }, new Date(), zone)}`
}

type TextArguments = {
  to: (field: string) => string
  from: (field: string) => string
  /** Returns the name of the list that the card moved from or to. */
  list: (side: 'from' | 'to') => string
  changes: Changes
  view: BoardData
  actorId: string | null
}

/** The text for each kind of entry. Kinds with null do not appear in the activity of a card. */
const actionTexts: Readonly<Record<ActivityKind, ((args: TextArguments) => string) | null>> = {
  'card.created': ({ list }) => `added this card to ${list('to')}`,
  'card.updated': ({ changes, to }) =>
    changes.title ? `renamed this card to “${to('title')}”` : 'changed the description',
  'card.moved': ({ list }) => `moved this card from ${list('from')} to ${list('to')}`,
  'card.reordered': () => 'moved this card within the list',
  'card.completed': () => 'marked this card as done',
  'card.reopened': () => 'marked this card as not done',
  'card.archived': () => 'archived this card',
  'card.restored': () => 'restored this card',
  'card.deleted': () => 'deleted this card',
  'card.assignees_changed': ({ changes, view, actorId }) => assigneeChangeText(changes, view, actorId),
  'card.labels_changed': ({ changes, view }) => labelChangeText(changes, view),
  'card.due_date_changed': ({ changes }) =>
    joinNames([dateChangeText(changes, 'due'), dateChangeText(changes, 'start')].filter((text) => text !== null)) ||
    'changed the time zone of the dates',
  'comment.added': () => 'commented',
  'comment.edited': () => 'edited a comment',
  'comment.deleted': () => 'deleted a comment',
  'checklist.added': ({ to }) => `added the checklist ${to('title')}`,
  'checklist.updated': ({ to }) => `renamed a checklist to ${to('title')}`,
  'checklist.deleted': ({ from }) => `deleted the checklist ${from('title')}`,
  'checklist_item.added': ({ to }) => `added the item ${to('title')}`,
  'checklist_item.updated': ({ changes, to }) =>
    changes.title ? `renamed an item to ${to('title')}` : 'moved an item',
  'checklist_item.completed': () => 'checked an item',
  'checklist_item.reopened': () => 'unchecked an item',
  'checklist_item.deleted': ({ from }) => `deleted the item ${from('title')}`,
  'card.cover_changed': ({ to }) => (to('coverId') ? 'changed the cover' : 'removed the cover'),
  'attachment.added': ({ to }) => `attached ${to('name')}`,
  'attachment.renamed': ({ from, to }) => `renamed the attachment ${from('name')} to ${to('name')}`,
  'attachment.removed': ({ from }) => `removed the attachment ${from('name')}`,
  'list.created': null,
  'list.updated': null,
  'list.moved': null,
  'list.moved_away': null,
  'list.moved_in': null,
  'list.archived': null,
  'list.restored': null,
  'list.deleted': null,
  'label.created': null,
  'label.updated': null,
  'label.deleted': null,
  'status.posted': null,
  'board.created': null,
  'board.updated': null,
  'board.archived': null,
  'board.restored': null,
  'board.trashed': null,
  'board.imported': null,
  'board_member.added': null,
  'board_member.updated': null,
  'board_member.removed': null,
  'rule.created': null,
  'rule.updated': null,
  'rule.deleted': null,
  'rule.switched_on': null,
  'rule.switched_off': null,
}

function actionText(type: string, changes: Changes, view: BoardData, actorId: string | null): string {
  const value = (side: 'from' | 'to') => (field: string) => (changes[field]?.[side] as string | null | undefined) ?? ''
  const [from, to] = [value('from'), value('to')]
  const list = (side: 'from' | 'to') => view.lists.get(value(side)('listId'))?.name ?? 'another list'
  const text = (actionTexts as Partial<typeof actionTexts>)[type as ActivityKind]
  return text?.({ to, from, list, changes, view, actorId }) ?? 'changed this card'
}
