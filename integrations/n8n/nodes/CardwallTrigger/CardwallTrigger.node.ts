import { NodeConnectionTypes } from 'n8n-workflow'
import type {
  IDataObject,
  IHookFunctions,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
} from 'n8n-workflow'
import { retryAfter } from '../shared/api'
import { boardField, labelsField, listsField, required, workspaceField } from '../shared/fields'
import { loadOptions } from '../shared/loadOptions'
import { type Delivery, toItem } from './delivery'
import { events } from './events'
import { isAuthentic } from './signature'
import { hasStarted, rememberStart } from './started'
import { checkExists, create, remove, stateOf } from './subscription'

/** Starts a workflow when something happens on a board, with the records that it is about. */
export class CardwallTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Cardwall Trigger',
    name: 'cardwallTrigger',
    icon: { light: 'file:../../icons/cardwall.svg', dark: 'file:../../icons/cardwall.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: 'Starts the workflow when something happens on a Cardwall board',
    defaults: { name: 'Cardwall Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'cardwallApi', required: true }],
    webhooks: [
      { name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' },
    ],
    properties: [
      {
        displayName: 'Events Of',
        name: 'scope',
        type: 'options',
        options: [
          {
            name: 'Board',
            value: 'board',
            description: 'Events of one board. You must be an admin of the board.',
          },
          {
            name: 'Workspace',
            value: 'workspace',
            description:
              'Events of all boards that the whole workspace can see. You must be an owner or admin of the workspace.',
          },
        ],
        default: 'board',
      },
      required({ ...boardField, displayOptions: { show: { scope: ['board'] } } }),
      required({ ...workspaceField, displayOptions: { show: { scope: ['workspace'] } } }),
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        options: events,
        default: [],
        required: true,
        description: 'The kinds of events that start the workflow',
      },
      {
        displayName: 'Filters',
        name: 'filters',
        type: 'collection',
        placeholder: 'Add Filter',
        displayOptions: { show: { scope: ['board'] } },
        default: {},
        options: [
          {
            ...labelsField,
            description: `Only cards with one of these labels. ${labelsField.description}.`,
          },
          {
            ...listsField,
            description: `Only cards in one of these lists. ${listsField.description}.`,
          },
        ],
      },
    ],
  }

  methods = { loadOptions }

  webhookMethods = {
    default: {
      checkExists(this: IHookFunctions) {
        return checkExists(this)
      },
      create(this: IHookFunctions) {
        return create(this)
      },
      delete(this: IHookFunctions) {
        return remove(this)
      },
    },
  }

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { rawBody } = this.getRequestObject() as { rawBody?: Buffer }
    const state = stateOf(this)
    if (!state.secret || !rawBody || !isAuthentic(state.secret, this.getHeaderData(), rawBody)) {
      return respond(this, 401, { message: 'The signature or the time is not valid.' })
    }

    const delivery = JSON.parse(rawBody.toString()) as Delivery
    const key = `${state.webhookId} ${delivery.id}`
    if (delivery.type === 'webhook.test' || hasStarted(key)) {
      return respond(this, 200, { message: 'Nothing to do.' })
    }

    let item: IDataObject
    try {
      item = await toItem(this, delivery)
    } catch (error) {
      const { message } = error as Error
      this.logger.error(`Cardwall delivery ${delivery.id} failed: ${message}`)
      // Cardwall retries after a 5xx, and waits as long as Retry-After says.
      const wait = retryAfter(error)
      return respond(this, 503, { message }, wait ? { 'Retry-After': wait } : {})
    }
    rememberStart(this, key)
    return { workflowData: [[{ json: item }]] }
  }
}

/** Responds to a delivery. The result tells n8n not to respond, and to start nothing. */
function respond(
  context: IWebhookFunctions,
  status: number,
  body: IDataObject,
  headers: Record<string, string> = {},
): IWebhookResponseData {
  context.getResponseObject().status(status).set(headers).json(body)
  return { noWebhookResponse: true }
}
