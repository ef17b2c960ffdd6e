import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow'
import { path, request, requestIfExists } from '../shared/api'

/** What the trigger stores in the static data of its node. */
export interface State {
  webhookId?: string
  secret?: string
}

/** The fields of a webhook that the trigger sets. */
interface Subscription {
  boardId?: string
  workspaceId?: string
  events: string[]
  lists?: string[]
  labels?: string[]
}

/** A webhook as the API returns it. */
interface Webhook extends Required<Omit<Subscription, 'boardId'>> {
  id: string
  /** The board, or null for a webhook of the whole workspace. */
  boardId: string | null
  on: boolean
  /** The host and port of the URL. The rest of the URL is not returned. */
  host: string
}

/** The longest name of a webhook, in characters. */
const maxName = 512

export function stateOf(context: IHookFunctions | IWebhookFunctions): State {
  return context.getWorkflowStaticData('node') as State
}

/** Reports whether the stored webhook is on, and sends the events that the node asks for. */
export async function checkExists(context: IHookFunctions): Promise<boolean> {
  const { webhookId, secret } = stateOf(context)
  if (!webhookId || !secret) return false
  const webhook = await requestIfExists<Webhook>(context, 'GET', path`/webhooks/${webhookId}`)
  if (!webhook) return false
  const wanted = subscription(context)
  return (
    webhook.on &&
    webhook.host === new URL(webhookUrl(context)).host &&
    webhook.boardId === (wanted.boardId ?? null) &&
    webhook.workspaceId === (wanted.workspaceId ?? webhook.workspaceId) &&
    same(webhook.events, wanted.events) &&
    same(webhook.lists, wanted.lists) &&
    same(webhook.labels, wanted.labels)
  )
}

/** Creates a webhook. It replaces the stored one, whose settings or address are out of date. */
export async function create(context: IHookFunctions): Promise<boolean> {
  await remove(context)
  const body: IDataObject = {
    ...subscription(context),
    url: webhookUrl(context),
    name: `n8n: ${context.getWorkflow().name}`.slice(0, maxName),
  }
  const webhook = await request<Webhook & { secret: string }>(context, 'POST', '/webhooks', {
    body,
  })
  Object.assign(stateOf(context), { webhookId: webhook.id, secret: webhook.secret })
  return true
}

/** Deletes the stored webhook, if there is one. */
export async function remove(context: IHookFunctions): Promise<boolean> {
  const state = stateOf(context)
  if (!state.webhookId) return true
  await requestIfExists(context, 'DELETE', path`/webhooks/${state.webhookId}`)
  delete state.webhookId
  delete state.secret
  return true
}

/** Returns what the parameters of the node ask for. */
function subscription(context: IHookFunctions): Subscription {
  const events = context.getNodeParameter('events') as string[]
  if (context.getNodeParameter('scope') === 'workspace') {
    return { events, workspaceId: context.getNodeParameter('workspaceId') as string }
  }
  // The parameter has no other fields, and none at all if people added no filter.
  const filters = context.getNodeParameter('filters', {}) as Pick<Subscription, 'lists' | 'labels'>
  return { events, boardId: context.getNodeParameter('boardId') as string, ...filters }
}

function webhookUrl(context: IHookFunctions): string {
  return context.getNodeWebhookUrl('default') as string
}

/** Reports whether two lists have the same values in any order. */
function same(a: string[] = [], b: string[] = []): boolean {
  return a.toSorted().join() === b.toSorted().join()
}
