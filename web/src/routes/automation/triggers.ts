// Labels of rule triggers.
import type { Rule } from '../../api/contract'
import { labelText, nameIn, type BoardObjects } from './boardObjects'

export type When = Rule['when']
export type Event = When['event']
type Takes = 'list' | 'label' | 'person' | 'hours'
type Trigger = { event: Event; label: string; takes?: Takes; aboutNoCard?: boolean }

export const triggerGroups: readonly { name: string; triggers: readonly Trigger[] }[] = [
  {
    name: 'Lists',
    triggers: [
      { event: 'card_entered', label: 'a card enters a list', takes: 'list' },
      { event: 'card_left', label: 'a card leaves a list', takes: 'list' },
      { event: 'list_created', label: 'a list is created', aboutNoCard: true },
      { event: 'list_archived', label: 'a list is archived', aboutNoCard: true },
    ],
  },
  {
    name: 'Cards',
    triggers: [
      { event: 'card_created', label: 'a card is created', takes: 'list' },
      { event: 'card_updated', label: 'a card’s title or description changes' },
      { event: 'card_completed', label: 'a card is marked done' },
      { event: 'card_reopened', label: 'a card is marked not done' },
      { event: 'card_archived', label: 'a card is archived' },
      { event: 'card_restored', label: 'a card is restored' },
    ],
  },
  {
    name: 'Labels and people',
    triggers: [
      { event: 'label_added', label: 'a label is added', takes: 'label' },
      { event: 'label_removed', label: 'a label is removed', takes: 'label' },
      { event: 'person_assigned', label: 'someone is assigned', takes: 'person' },
      { event: 'person_unassigned', label: 'someone is unassigned', takes: 'person' },
    ],
  },
  {
    name: 'Time',
    triggers: [
      { event: 'due_soon', label: 'a card is due soon', takes: 'hours' },
      { event: 'overdue', label: 'a card becomes overdue' },
      { event: 'due_set', label: 'a due date is set' },
      { event: 'due_cleared', label: 'a due date is removed' },
    ],
  },
  {
    name: 'Comments, checklists and status',
    triggers: [
      { event: 'comment_added', label: 'someone comments' },
      { event: 'item_completed', label: 'a checklist item is done' },
      { event: 'checklist_completed', label: 'a checklist is complete' },
      { event: 'status_posted', label: 'a status update is posted', aboutNoCard: true },
    ],
  },
]

const triggers = triggerGroups.flatMap((group) => group.triggers)

export const triggerOf = (event: Event): Trigger => triggers.find((one) => one.event === event)!

/** "a card enters Done". */
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

export function hoursText(hours: number): string {
  if (hours % 24 === 0) return hours === 24 ? 'a day' : `${hours / 24} days`
  return hours === 1 ? 'an hour' : `${hours} hours`
}
