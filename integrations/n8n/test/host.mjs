// A small host that calls the built nodes as n8n does. It has just what the nodes use of n8n's
// interfaces. The parameters, with their defaults and conditions, are resolved by n8n's own code,
// and requests are real.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { freePort } from '../../server.mjs'

const require = createRequire(import.meta.url)
const { NodeHelpers } = require('n8n-workflow')
const { CardwallApi } = require('../dist/credentials/CardwallApi.credentials.js')
const { Cardwall } = require('../dist/nodes/Cardwall/Cardwall.node.js')
const { CardwallTrigger } = require('../dist/nodes/CardwallTrigger/CardwallTrigger.node.js')

const credentialType = new CardwallApi()

/** Evaluates an expression of the credentials, such as "=Bearer {{$credentials.apiToken}}". */
export function evaluate(expression, $credentials) {
  return expression
    .slice(1)
    .replace(/{{(.*?)}}/g, (_, code) =>
      new Function('$credentials', `return ${code}`)($credentials),
    )
}

/** Sends a request as n8n's helper does, with the headers of the credentials. */
async function send(credentials, { method, url, qs = {}, body, headers }) {
  const query = Object.entries(qs).filter(([, value]) => value !== undefined)
  const { Authorization } = credentialType.authenticate.properties.headers
  const response = await fetch(query.length ? `${url}?${new URLSearchParams(query)}` : url, {
    method,
    headers: {
      ...headers,
      ...(body && { 'Content-Type': 'application/json' }),
      Authorization: evaluate(Authorization, credentials),
    },
    body: body && JSON.stringify(body),
    redirect: 'manual',
  })
  const text = await response.text()
  let parsed = text
  try {
    parsed = JSON.parse(text)
  } catch {
    // n8n's helper returns a body that is not JSON as a text, too.
  }
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: parsed,
  }
}

/** Returns what all contexts of n8n have. */
function context(nodeType, parameters, credentials, resolve = () => parameters) {
  const node = {
    id: 'b3c1a5de-0001',
    name: nodeType.description.displayName,
    type: nodeType.description.name,
    typeVersion: 1,
    position: [0, 0],
    parameters,
  }
  const resolved = (item) =>
    NodeHelpers.getNodeParameters(
      nodeType.description.properties,
      resolve(item),
      true,
      false,
      node,
      nodeType.description,
    )
  return {
    getNode: () => node,
    getCredentials: async () => credentials,
    getTimezone: () => 'Europe/Zurich',
    getInstanceId: () => 'instance',
    parameter: (name, item, fallback) => {
      const value = resolved(item)[name] ?? fallback
      if (value === undefined) throw new Error(`Could not get parameter "${name}"`)
      return value
    },
    helpers: {
      httpRequestWithAuthentication(type, options) {
        if (type !== credentialType.name) throw new Error(`unknown credentials ${type}`)
        return send(credentials, options)
      },
    },
    logger: { error() {} },
  }
}

/**
 * Runs the action node for input items and returns the JSON of its output items. Parameters are an
 * object, or a function that returns those of the item with an index. Options: executionId,
 * runIndex, continueOnFail and full, which returns the items with pairedItem.
 */
export async function run(credentials, parameters, options = {}) {
  const { items = 1, executionId = crypto.randomUUID(), runIndex = 0 } = options
  const node = new Cardwall()
  const resolve = typeof parameters === 'function' ? parameters : () => parameters
  const base = context(node, resolve(0), credentials, resolve)
  const [output] = await node.execute.call({
    ...base,
    getInputData: () => Array.from({ length: items }, () => ({ json: {} })),
    getNodeParameter: (name, item, fallback) => base.parameter(name, item, fallback),
    getExecutionId: () => executionId,
    getWorkflowDataProxy: () => ({ $runIndex: runIndex }),
    continueOnFail: () => options.continueOnFail ?? false,
  })
  return options.full ? output : output.map(({ json }) => json)
}

/** Returns the choices of a dropdown. */
export async function choices(credentials, method, parameters = {}) {
  const node = new Cardwall()
  const base = context(node, parameters, credentials)
  return await node.methods.loadOptions[method].call({
    ...base,
    getCurrentNodeParameter: (name) => parameters[name],
  })
}

/**
 * Starts the trigger node behind a real HTTP server, as an n8n with the workflow in it. items has
 * what started the workflow, and responses the statuses of all deliveries. failures are the statuses
 * with which n8n responds because it cannot store an execution.
 */
export async function startTrigger(credentials, parameters) {
  const node = new CardwallTrigger()
  const state = { credentials, parameters, staticData: {}, failures: [] }
  Object.assign(state, { items: [], responses: [], requests: [] })
  const port = await freePort()
  state.url = `http://127.0.0.1:${port}/webhook/8f1c/webhook`
  const host = () => {
    const base = context(node, state.parameters, state.credentials)
    return {
      ...base,
      getWorkflow: () => ({ id: 'w1', name: 'New cards', active: true }),
      getWorkflowStaticData: () => state.staticData,
      getNodeWebhookUrl: () => state.url,
      getNodeParameter: (name, fallback) => base.parameter(name, 0, fallback),
    }
  }
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const rawBody = Buffer.concat(chunks)
    state.requests.push({ headers: request.headers, rawBody })
    const { workflowData, noWebhookResponse } = await node.webhook.call({
      ...host(),
      getRequestObject: () => ({ rawBody }),
      getHeaderData: () => request.headers,
      getResponseObject: () => expressResponse(response),
    })
    const failure = workflowData && state.failures.shift()
    if (workflowData && !failure) state.items.push(...workflowData[0].map(({ json }) => json))
    if (!noWebhookResponse) response.writeHead(failure ?? 200).end()
    state.responses.push(response.statusCode)
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  return Object.assign(state, {
    create: () => node.webhookMethods.default.create.call(host()),
    checkExists: () => node.webhookMethods.default.checkExists.call(host()),
    remove: () => node.webhookMethods.default.delete.call(host()),
    close: () => server.close().closeAllConnections(),
  })
}

/** Adds the methods of Express's response that the trigger uses. */
function expressResponse(response) {
  return Object.assign(response, {
    status(code) {
      response.statusCode = code
      return response
    },
    set(headers) {
      response.setHeaders(new Map(Object.entries(headers)))
      return response
    },
    json(body) {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(body))
    },
  })
}
