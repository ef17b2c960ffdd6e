// The field changes of an audit entry, as text.
import type { AuditEntry } from '../../api/contract'
import { eventsText } from '../webhooks/events'
import { momentText } from '../../lib/exactTime'

export type Line = { field: string; from: string | null; to: string | null }

const labels: Record<string, string> = {
  archivedAt: 'Archived',
  assignees: 'People',
  boardId: 'Board',
  done: 'Done',
  dueAt: 'Due at',
  dueDate: 'Due',
  email: 'Email',
  headerNames: 'Headers',
  lastFour: 'URL ends in',
  listId: 'List',
  newHeaderValues: 'New values of headers',
  oldSecretUntil: 'Old secret works until',
  on: 'On',
  startAt: 'Starts at',
  startDate: 'Starts',
  timeZone: 'Time zone',
  userId: 'Person',
  wipLimit: 'WIP limit',
  wipMode: 'WIP mode',
}

/** Returns the label of a field. Names without a label are split at capital letters. */
export function fieldText(field: string): string {
  const text = labels[field] ?? field.replace(/([A-Z])/g, ' $1').toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Formats a value for display. Returns null if the value is empty. `names` maps IDs to names. */
export function valueText(
  value: unknown,
  field: string,
  names: ReadonlyMap<string, string>,
  zone: string,
): string | null {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return instant.test(value) ? momentText(value, zone) : (names.get(value) ?? value)
  if (Array.isArray(value)) {
    if (field === 'events') return value.length ? eventsText(value as string[]) : null
    const texts = value.map((v) => valueText(v, field, names, zone) ?? '')
    return texts.length ? texts.join(', ') : null
  }
  if (typeof value === 'object') {
    const parts = Object.entries(value).map(([k, v]) => `${fieldText(k)}: ${valueText(v, k, names, zone) ?? 'none'}`)
    return parts.join('\n')
  }
  return String(value)
}

// Fields that do not help a reader. For example, a position contains the ID of a neighbor.
const hiddenFields = new Set(['position', 'number'])

/** Returns the field changes to show. */
export function difference(changes: AuditEntry['changes'], names: ReadonlyMap<string, string>, zone: string): Line[] {
  return Object.entries(changes)
    .filter(([field]) => !hiddenFields.has(field))
    .map(([field, { from, to }]) => ({
      field,
      from: valueText(from, field, names, zone),
      to: valueText(to, field, names, zone),
    }))
    .filter((line) => line.from !== line.to)
}
