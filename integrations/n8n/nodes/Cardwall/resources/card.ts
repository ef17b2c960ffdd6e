import type { IDataObject } from 'n8n-workflow'
import { path } from '../../shared/api'
import type { Call, Resource } from '../operation'
import { cardProperties } from './cardFields'

/** Ids that were chosen in a dropdown or given by an expression. */
type Ids = string | string[]

/** The fields of a due date, as people fill them in. Empty texts count as absent. */
interface Due {
  dueDate?: string
  dueTime?: string
  startDate?: string
  startTime?: string
  timeZone?: string
}

/** Optional fields of a new card. */
interface AdditionalFields extends Due {
  assignees?: Ids
  description?: string
  labels?: Ids
  position?: string
}

/** Conditions that the cards of a board must meet. */
interface Filters {
  archived?: string
  assignees?: Ids
  done?: boolean
  labels?: Ids
  lists?: Ids
}

export const card: Resource = {
  properties: cardProperties,
  operations: {
    archive: async (call) => await call.write('POST', path`/cards/${cardId(call)}/archive`),
    clearDue: async (call) => await call.write('DELETE', path`/cards/${cardId(call)}/due`),
    create,
    get: async (call) => await call.get(path`/cards/${cardId(call)}`),
    getAll,
    move: async (call) =>
      await call.write('POST', path`/cards/${cardId(call)}/move`, {
        listId: call.parameter('listId'),
        position: call.parameter('position'),
      }),
    restore: async (call) => await call.write('POST', path`/cards/${cardId(call)}/restore`),
    setDue: async (call) => {
      const due = { dueDate: call.parameter('dueDate'), ...call.parameter('additionalFields', {}) }
      return await call.write('PUT', path`/cards/${cardId(call)}/due`, dueInput(call, due))
    },
    update: async (call) =>
      await call.write('PATCH', path`/cards/${cardId(call)}`, call.parameter('updateFields', {})),
  },
}

function cardId(call: Call): string {
  return call.parameter('cardId')
}

async function create(call: Call): Promise<IDataObject> {
  const { assignees, description, labels, position, ...due } = call.parameter<AdditionalFields>(
    'additionalFields',
    {},
  )
  return await call.write('POST', '/cards', {
    listId: call.parameter('listId'),
    title: call.parameter('title'),
    assignees: idsOf(assignees),
    description,
    labels: idsOf(labels),
    position,
    due: Object.values(due).some(Boolean) ? dueInput(call, due) : undefined,
  })
}

async function getAll(call: Call): Promise<IDataObject[]> {
  const { archived, assignees, done, labels, lists } = call.parameter<Filters>('filters', {})
  return await call.getMany(path`/boards/${call.parameter('boardId')}/cards`, {
    archived,
    done,
    assignee: anyOf(assignees),
    label: anyOf(labels),
    list: anyOf(lists),
  })
}

/** Returns the ids of a field as a list. An expression may give them as a text with commas. */
function idsOf(value: Ids = []): string[] {
  return typeof value === 'string' ? value.split(',').filter(Boolean) : value
}

/** Returns a filter that any of the ids matches, or none if there are no ids. */
function anyOf(value: Ids | undefined): string | undefined {
  return idsOf(value).join(',') || undefined
}

/** Returns a due date as the API expects it. Times without a zone are in that of the workflow. */
function dueInput(call: Call, due: Due): IDataObject {
  const { dueTime, startTime } = due
  return {
    dueDate: day(due.dueDate),
    dueTime: dueTime || undefined,
    startDate: day(due.startDate),
    startTime: startTime || undefined,
    timeZone: dueTime || startTime ? due.timeZone || call.timeZone() : undefined,
  }
}

/** Returns the day of a date or time, which may be a text or an object of an expression. */
function day(value: unknown): string | undefined {
  return value ? String(value).split('T')[0] : undefined
}
