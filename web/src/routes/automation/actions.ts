// Labels and inputs of rule actions. The page presents an action by its kind: an
// operation with some of its input. Input fields that the page does not show stay
// unchanged.
import type { RuleAction } from '../../api/contract'
import { labelText, nameIn, type BoardObjects } from './boardObjects'

export type Kind =
  | 'done'
  | 'reopen'
  | 'move'
  | 'label'
  | 'unlabel'
  | 'assign'
  | 'unassign'
  | 'due'
  | 'undue'
  | 'checklist'
  | 'comment'
  | 'title'
  | 'card'
  | 'archive'

/** The placeholder for the person who triggered a rule. */
export const actor = '{actor}'
/** The text that is shown for the placeholder. */
export const actorName = 'the person who triggered it'

export const kinds: readonly { kind: Kind; label: string; needsCard: boolean }[] = [
  { kind: 'done', label: 'mark the card done', needsCard: true },
  { kind: 'reopen', label: 'mark the card not done', needsCard: true },
  { kind: 'move', label: 'move the card', needsCard: true },
  { kind: 'label', label: 'add a label', needsCard: true },
  { kind: 'unlabel', label: 'remove a label', needsCard: true },
  { kind: 'assign', label: 'assign a person', needsCard: true },
  { kind: 'unassign', label: 'unassign a person', needsCard: true },
  { kind: 'due', label: 'set the due date', needsCard: true },
  { kind: 'undue', label: 'remove the due date', needsCard: true },
  { kind: 'checklist', label: 'add a checklist', needsCard: true },
  { kind: 'comment', label: 'comment', needsCard: true },
  { kind: 'title', label: 'rename the card', needsCard: true },
  { kind: 'card', label: 'create a card', needsCard: false },
  { kind: 'archive', label: 'archive the card', needsCard: true },
]

export type Input = Record<string, unknown>

export const inputOf = (action: RuleAction): Input => action.input ?? {}

const first = (value: unknown): string => (Array.isArray(value) && typeof value[0] === 'string' ? value[0] : '')
export const textIn = (input: Input, field: string): string =>
  typeof input[field] === 'string' ? (input[field] as string) : ''
export const firstIn = (input: Input, field: string): string => first(input[field])

/** Returns the number of days in "{today+3}", 0 for "{today}", or null for any other date. */
export function daysIn(input: Input): number | null {
  const match = /^\{today(?:\+(\d{1,3}))?\}$/.exec(textIn(input, 'dueDate'))
  return match ? Number(match[1] ?? 0) : null
}

export function kindOf(action: RuleAction): Kind {
  const input = inputOf(action)
  switch (action.operation) {
    case 'update_card':
      if (input.done === true) return 'done'
      return input.done === false ? 'reopen' : 'title'
    case 'move_card':
      return 'move'
    case 'set_card_labels':
      return first(input.add) ? 'label' : 'unlabel'
    case 'set_card_assignees':
      return first(input.add) ? 'assign' : 'unassign'
    case 'set_card_due':
      return 'due'
    case 'clear_card_due':
      return 'undue'
    case 'add_checklist':
      return 'checklist'
    case 'add_comment':
      return 'comment'
    case 'create_card':
      return 'card'
    default:
      return 'archive'
  }
}

/** Returns a new action of a kind with default input. */
export function newAction(kind: Kind, objects: BoardObjects): RuleAction {
  const list = objects.lists.at(-1)?.id ?? ''
  const label = objects.labels[0]?.id ?? ''
  switch (kind) {
    case 'done':
      return { operation: 'update_card', input: { done: true } }
    case 'reopen':
      return { operation: 'update_card', input: { done: false } }
    case 'move':
      return { operation: 'move_card', input: { listId: list, position: 'bottom' } }
    case 'label':
      return { operation: 'set_card_labels', input: { add: [label] } }
    case 'unlabel':
      return { operation: 'set_card_labels', input: { remove: [label] } }
    case 'assign':
      return { operation: 'set_card_assignees', input: { add: [actor] } }
    case 'unassign':
      return { operation: 'set_card_assignees', input: { remove: [actor] } }
    case 'due':
      return { operation: 'set_card_due', input: { dueDate: '{today+3}' } }
    case 'undue':
      return { operation: 'clear_card_due' }
    case 'checklist':
      return { operation: 'add_checklist', input: { title: 'To do', items: [] } }
    case 'comment':
      return { operation: 'add_comment', input: { text: '' } }
    case 'title':
      return { operation: 'update_card', input: { title: '{card}' } }
    case 'card':
      return { operation: 'create_card', input: { listId: list, title: '' } }
    default:
      return { operation: 'archive_card' }
  }
}

/** Describes an action: "move it to the top of Done". */
export function actionText(action: RuleAction, objects: BoardObjects): string {
  const input = inputOf(action)
  const ids = (field: string) => (Array.isArray(input[field]) ? (input[field] as unknown[]) : [])
  const people = (field: string) =>
    ids(field)
      .map((id) => (id === actor ? actorName : nameIn(objects.people, id, 'a former member')))
      .join(', ')
  const labels = (field: string) =>
    ids(field)
      .map((id) => labelText(objects, id))
      .join(', ')
  const list = nameIn(objects.lists, input.listId, 'a deleted list')
  switch (kindOf(action)) {
    case 'done':
      return 'mark it done'
    case 'reopen':
      return 'mark it not done'
    case 'move':
      return `move it to the ${input.position === 'top' ? 'top' : 'bottom'} of ${list}`
    case 'label':
      return `add ${labels('add')}`
    case 'unlabel':
      return `remove ${labels('remove')}`
    case 'assign':
      return `assign ${people('add')}`
    case 'unassign':
      return `unassign ${people('remove')}`
    case 'due':
      return `set it due ${dueText(input)}`
    case 'undue':
      return 'remove its due date'
    case 'checklist':
      return `add the checklist “${textIn(input, 'title')}”`
    case 'comment':
      return `comment “${truncate(textIn(input, 'text'))}”`
    case 'title':
      return `rename it to “${textIn(input, 'title')}”`
    case 'card':
      return `create “${textIn(input, 'title')}” in ${list}`
    default:
      return 'archive it'
  }
}

function dueText(input: Input): string {
  const days = daysIn(input)
  if (days === null) return `on ${textIn(input, 'dueDate')}`
  return days === 0 ? 'today' : days === 1 ? 'the next day' : `${days} days later`
}

const truncate = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text)

/** Describes the actions of a rule: "mark it done and comment “Well done.”". */
export function thenText(actions: readonly RuleAction[], objects: BoardObjects): string {
  const texts = actions.map((action) => actionText(action, objects))
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
}
