import createClient, { type Middleware } from 'openapi-fetch'
import { randomId } from '../lib/id'
import type { paths as AppPaths } from './contract'
import type { paths as PublicPaths } from './schema'
import { send } from './send'

/** The ID of this tab. The live stream uses it to tell which tab caused a change. */
export const clientId = randomId()

/** An error response of the server, or status 0 if there was no response. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly reason = '',
  ) {
    super(message)
  }

  /** Whether no server responded. The request may be retried with the same idempotency key. */
  get unreachable(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504
  }

  /** Whether the request requires a sign-in within the last ten minutes. */
  get wantsRecentSignIn(): boolean {
    return this.reason === 'recent_sign_in_required'
  }
}

let sender = ''

/** Sets the person whose page this is. The server rejects changes if another person is signed in. */
export function sendAs(userId: string): void {
  sender = userId
}

const requestHeaders: Middleware = {
  onRequest({ request }) {
    // A GET with extra headers would not use the browser's preloaded response.
    if (request.method === 'GET') return request
    request.headers.set('X-Client', clientId)
    if (sender) request.headers.set('X-User', sender)
    if (!request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', randomId())
    // keepalive completes deletions that are sent while the page closes.
    return request.method === 'DELETE' ? new Request(request, { keepalive: true }) : request
  },
}

/** The public operations, /api/public/v1. */
export const api = createClient<PublicPaths>({ baseUrl: '/api/public/v1', fetch: send })
/** The operations of the application only, /api/app/v1. */
export const app = createClient<AppPaths>({ baseUrl: '/api/app/v1', fetch: send })
api.use(requestHeaders)
app.use(requestHeaders)

type ApiResult<T> = { data?: T; error?: unknown; response: Response }

/** Returns the body of a successful response. It throws ApiError otherwise. */
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

/** Returns a message for people about a thrown value. */
export function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'Something went wrong. Try again.'
}
