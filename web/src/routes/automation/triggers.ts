// Labels and groups of rule triggers.
import type { Rule } from '../../api/contract'
import { labelText, nameIn, type BoardObjects } from './boardObjects'

export type When = Rule['when']
export type Event = When['event']
type Parameter = 'list' | 'label' | 'person' | 'hours'

const groupNames = ['Lists', 'Cards', 'Labels and people', 'Time', 'Comments, checklists and status'] as const
type Trigger = { group: (typeof groupNames)[number]; label: string; parameter?: Parameter; aboutNoCard?: boolean }

/** All triggers. The picker shows the triggers of each group in this order. */
const triggers: Readonly<Record<Event, Trigger>> = {
  card_entered: { group: 'Lists', label: 'a card enters a list', parameter: 'list' },
  card_left: { group: 'Lists', label: 'a card leaves a list', parameter: 'list' },
  list_created: { group: 'Lists', label: 'a list is created', aboutNoCard: true },
  list_archived: { group: 'Lists', label: 'a list is archived', aboutNoCard: true },
  card_created: { group: 'Cards', label: 'a card is created', parameter: 'list' },
  card_updated: { group: 'Cards', label: 'a card’s title or description changes' },
  card_completed: { group: 'Cards', label: 'a card is marked done' },
  card_reopened: { group: 'Cards', label: 'a card is marked not done' },
  card_archived: { group: 'Cards', label: 'a card is archived' },
  card_restored: { group: 'Cards', label: 'a card is restored' },
  label_added: { group: 'Labels and people', label: 'a label is added', parameter: 'label' },
  label_removed: { group: 'Labels and people', label: 'a label is removed', parameter: 'label' },
  person_assigned: { group: 'Labels and people', label: 'someone is assigned', parameter: 'person' },
  person_unassigned: { group: 'Labels and people', label: 'someone is unassigned', parameter: 'person' },
  due_soon: { group: 'Time', label: 'a card is due soon', parameter: 'hours' },
  overdue: { group: 'Time', label: 'a card becomes overdue' },
  due_set: { group: 'Time', label: 'a due date is set' },
  due_cleared: { group: 'Time', label: 'a due date is removed' },
  comment_added: { group: 'Comments, checklists and status', label: 'someone comments' },
  item_completed: { group: 'Comments, checklists and status', label: 'a checklist item is done' },
  checklist_completed: { group: 'Comments, checklists and status', label: 'a checklist is complete' },
  status_posted: { group: 'Comments, checklists and status', label: 'a status update is posted', aboutNoCard: true },
}

const events = Object.keys(triggers) as Event[]

export const triggerGroups = groupNames.map((name) => ({
  name,
  triggers: events
    .filter((event) => triggers[event].group === name)
    .map((event) => ({ event, label: triggers[event].label })),
}))

export const triggerOf = (event: Event): Trigger => triggers[event]

/** Describes a trigger: "a card enters Done". */
export function whenText(when: When, objects: BoardObjects): string {
  const list = when.listId ? nameIn(objects.lists, when.listId, 'a deleted list') : null
  const label = when.labelId ? labelText(objects, when.labelId) : 'a label'
  const person = when.userId ? nameIn(objects.people, when.userId, 'a former member') : null
  switch (when.event) {
    case 'card_entered':
      return `a card enters ${list ?? 'a list'}`
    case 'card_left':
      return `a card leaves ${list ?? 'a list'}`
    case 'card_created':
      return list ? `a card is created in ${list}` : 'a card is created'
    case 'label_added':
      return `${label} is added`
    case 'label_removed':
      return `${label} is removed`
    case 'person_assigned':
      return `${person ?? 'someone'} is assigned`
    case 'person_unassigned':
      return `${person ?? 'someone'} is unassigned`
    case 'due_soon':
      return `a card is due in ${hoursText(when.hours ?? 24)}`
    default:
      return triggerOf(when.event).label
  }
}

/** Formats a number of hours: "an hour", "a day", "2 days". */
export function hoursText(hours: number): string {
  if (hours % 24 === 0) return hours === 24 ? 'a day' : `${hours / 24} days`
  return hours === 1 ? 'an hour' : `${hours} hours`
}
