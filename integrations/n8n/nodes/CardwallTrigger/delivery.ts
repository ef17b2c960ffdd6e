import type { IDataObject, IWebhookFunctions } from 'n8n-workflow'
import { path, requestIfExists } from '../shared/api'

/** The body of a delivery. It has ids and dates, but no texts. */
export interface Delivery {
  /** Identifies the delivery. It is the same for every attempt. */
  id: string
  type: string
  occurredAt: string
  workspaceId: string
  boardId: string
  boardVersion: number
  actor: IDataObject
  data: Record<string, unknown>
}

/**
 * Returns the item for a delivery: the event, and the records that it is about. A record is null
 * if it was deleted meanwhile.
 *
 * @throws {NodeApiError} if a record cannot be read for another reason
 */
export async function toItem(context: IWebhookFunctions, delivery: Delivery): Promise<IDataObject> {
  const { type, occurredAt, workspaceId, boardId, boardVersion, actor, data } = delivery
  const id = `${boardId}:v${boardVersion}`
  const item: IDataObject = {
    id,
    type,
    occurredAt,
    workspaceId,
    boardId,
    boardVersion,
    actor,
    data: data as IDataObject,
  }
  for (const [field, route] of recordsOf(delivery))
    item[field] = await requestIfExists(context, 'GET', route)
  return item
}

/** Returns the records that an event is about: the field of the item, and the path of the API. */
function recordsOf({ type, data }: Delivery): [string, string][] {
  const records: [string, string][] = []
  const add = (field: string, id: unknown, route: (id: string) => string) => {
    if (typeof id === 'string') records.push([field, route(id)])
  }
  add('card', data.cardId, (id) => path`/cards/${id}`)
  add('comment', data.commentId, (id) => path`/comments/${id}`)
  add('checklist', data.checklistId, (id) => path`/checklists/${id}`)
  add('statusUpdate', data.statusUpdateId, (id) => path`/status-updates/${id}`)
  // Events of cards name a list, too, but are not about it.
  if (type.startsWith('list.')) add('list', data.listId, (id) => path`/lists/${id}`)
  return records
}
