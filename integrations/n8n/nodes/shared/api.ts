import { NodeApiError } from 'n8n-workflow'
import type {
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestMethods,
  IN8nHttpFullResponse,
  ILoadOptionsFunctions,
  IWebhookFunctions,
  JsonObject,
} from 'n8n-workflow'

/** The contexts in which n8n calls the nodes. */
export type Context = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions | IWebhookFunctions

/** The largest number of records that the server returns in a page. */
const maxPage = 200

/** What a request has besides its method and path. */
export interface RequestOptions {
  query?: IDataObject
  body?: IDataObject
  /** Makes the request safe to repeat: the server stores its first response for a day. */
  idempotencyKey?: string
  /** The index of the input item that the request is for. Errors name it. */
  item?: number
}

/** The body of a successful response. */
interface Result<T> {
  data: T
  /** The cursor of the next page. Absent on the last page. */
  nextCursor?: string
}

/** What the server says about a request that failed. */
interface Fault {
  code: string
  message: string
}

/** Builds a path of the API. Values are encoded, so that an id cannot change the path. */
export function path(strings: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: strings }, ...values.map((value) => encodeURIComponent(value.trim())))
}

/**
 * Sends a request and returns the record in the response.
 *
 * @throws {NodeApiError} with the server's message and, in httpCode, the status
 */
export async function request<T = IDataObject>(
  context: Context,
  method: IHttpRequestMethods,
  route: string,
  options: RequestOptions = {},
): Promise<T> {
  return resultOf<T>(context, await send(context, method, route, options), options).data
}

/** Is like request, but returns null if the record does not exist or cannot be seen. */
export async function requestIfExists<T = IDataObject>(
  context: Context,
  method: IHttpRequestMethods,
  route: string,
): Promise<T | null> {
  const response = await send(context, method, route, {})
  // Something else than Cardwall, such as a proxy, may respond with 404 while the record exists.
  const isMissing = faultOf(response)?.code === 'not_found'
  return isMissing ? null : resultOf<T>(context, response, {}).data
}

/** Returns the records of all pages of a list, or the first ones up to the limit. */
export async function requestAll<T = IDataObject>(
  context: Context,
  route: string,
  options: RequestOptions = {},
  limit = Infinity,
): Promise<T[]> {
  const records: T[] = []
  let cursor: string | undefined
  do {
    const query = { ...options.query, limit: Math.min(limit - records.length, maxPage), cursor }
    const response = await send(context, 'GET', route, { ...options, query })
    const page = resultOf<T[]>(context, response, options)
    records.push(...page.data)
    cursor = page.nextCursor
  } while (cursor && records.length < limit)
  return records
}

/** Returns the seconds that the server asked to wait in an error, if any. */
export function retryAfter(error: unknown): string | undefined {
  return error instanceof NodeApiError ? (error.context.retryAfter as string) : undefined
}

/** Sends a request and returns the response, whatever its status. */
async function send(
  context: Context,
  method: IHttpRequestMethods,
  route: string,
  { query, body, idempotencyKey, item }: RequestOptions,
): Promise<IN8nHttpFullResponse> {
  const { serverUrl } = await context.getCredentials<{ serverUrl: string }>('cardwallApi', item)
  return (await context.helpers.httpRequestWithAuthentication.call(context, 'cardwallApi', {
    method,
    url: `${serverUrl.trim().replace(/\/+$/, '')}/api/public/v1${route}`,
    qs: query,
    body,
    headers: idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {},
    json: true,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    disableFollowRedirect: true,
  })) as IN8nHttpFullResponse
}

/** Returns the body of a successful response, or throws the error that the server describes. */
function resultOf<T>(
  context: Context,
  response: IN8nHttpFullResponse,
  { item }: RequestOptions,
): Result<T> {
  const { statusCode, headers } = response
  const body = response.body as Partial<Result<T>> | null
  if (statusCode < 300 && body?.data !== undefined) return body as Result<T>

  const wait = headers['retry-after'] as string | undefined
  const noMessage = `The server responded with the status ${statusCode} and no message. Check the server URL.`
  const error = new NodeApiError(context.getNode(), { body } as JsonObject, {
    message: faultOf(response)?.message ?? noMessage,
    description: wait && `The server asks to wait ${wait} seconds before the next request.`,
    httpCode: String(statusCode),
    itemIndex: item,
  })
  error.context.retryAfter = wait
  throw error
}

function faultOf({ body }: IN8nHttpFullResponse): Fault | undefined {
  return (body as { error?: Fault } | null)?.error
}
