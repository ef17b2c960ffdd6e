import createClient, { type Middleware } from 'openapi-fetch'
import { randomId } from '../lib/id'
import type { paths as AppPaths } from './contract'
import type { paths as PublicPaths } from './schema'
import { send } from './send'

/** The ID of this tab. The live stream sends it with each change that the tab caused. */
export const clientId = randomId()

/** An error response. The status is 0 if there was no response. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly reason = '',
  ) {
    super(message)
  }

  /** Whether the server did not respond. The request may be retried with the same idempotency key. */
  get unreachable(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504
  }

  /** Whether the request requires a sign-in within the last ten minutes. */
  get requiresRecentSignIn(): boolean {
    return this.reason === 'recent_sign_in_required'
  }
}

let currentUser = ''

/** Sets the user of the page. The server rejects changes if another user is now signed in. */
export function sendAs(userId: string): void {
  currentUser = userId
}

/** Returns the headers of a change that is not sent with `api` or `app`. */
export function changeHeaders(idempotencyKey: string): Record<string, string> {
  return { 'X-Client': clientId, 'Idempotency-Key': idempotencyKey, ...(currentUser ? { 'X-User': currentUser } : {}) }
}

const requestHeaders: Middleware = {
  onRequest({ request }) {
    // With extra headers, a GET request would not use the response that the browser has preloaded.
    if (request.method === 'GET') return request
    request.headers.set('X-Client', clientId)
    if (currentUser) request.headers.set('X-User', currentUser)
    if (!request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', randomId())
    // keepalive lets the browser complete deletions that are sent while the page closes.
    return request.method === 'DELETE' ? new Request(request, { keepalive: true }) : request
  },
}

/** The public operations, /api/public/v1. */
export const api = createClient<PublicPaths>({ baseUrl: '/api/public/v1', fetch: send })
/** The operations that only the application uses, /api/app/v1. */
export const app = createClient<AppPaths>({ baseUrl: '/api/app/v1', fetch: send })
api.use(requestHeaders)
app.use(requestHeaders)

type ApiResult<T> = { data?: T; error?: unknown; response: Response }

/** Returns the body of a successful response. Throws ApiError otherwise. */
export async function body<T>(request: Promise<ApiResult<T>>): Promise<T> {
  let result: ApiResult<T>
  try {
    result = await request
  } catch {
    throw new ApiError(0, 'unreachable', 'Can’t reach the server. Check your connection.')
  }
  if (result.data !== undefined) return result.data
  const envelope = result.error as { error?: { code?: string; message?: string; reason?: string } } | undefined
  const error = envelope?.error
  const status = result.response.status
  throw new ApiError(
    status,
    error?.code ?? 'internal',
    error?.message ?? `The server responded with an error (${status}). Try again.`,
    error?.reason,
  )
}

/** Returns the data of a response without its envelope. */
export async function data<T>(request: Promise<ApiResult<{ data: T }>>): Promise<T> {
  return (await body(request)).data
}

/** Returns all records of a paged list. */
export async function all<T>(
  page: (cursor: string | undefined) => Promise<ApiResult<{ data: T[]; nextCursor?: string }>>,
): Promise<T[]> {
  const records: T[] = []
  let cursor: string | undefined
  do {
    const response = await body(page(cursor))
    records.push(...response.data)
    cursor = response.nextCursor
  } while (cursor)
  return records
}

/** Returns the message of a thrown value, for the user. */
export function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'Something went wrong. Try again.'
}
