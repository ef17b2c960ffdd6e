import createClient, { type Middleware } from 'openapi-fetch'
import { randomId } from '../lib/id'
import type { paths as AppPaths } from './contract'
import type { paths as PublicPaths } from './schema'
import { send } from './send'

/** This tab's mark: the live stream says by it whose change an event tells. */
export const clientId = randomId()

/** A refusal of the server, or its absence. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly reason = '',
  ) {
    super(message)
  }

  /** No answer came: the same request may be sent again with its key. */
  get unreachable(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504
  }

  /** A sign-in of the last ten minutes is wanted before the same request. */
  get wantsRecentSignIn(): boolean {
    return this.reason === 'recent_sign_in_required'
  }
}

let sender = ''

/** Says whose page this is: the server refuses its changes once another person is signed in with the browser. */
export function sendAs(userId: string): void {
  sender = userId
}

const marks: Middleware = {
  onRequest({ request }) {
    // A request with a header of its own would not find what the browser loaded ahead.
    if (request.method === 'GET') return request
    request.headers.set('X-Client', clientId)
    if (sender) request.headers.set('X-User', sender)
    if (!request.headers.has('Idempotency-Key')) request.headers.set('Idempotency-Key', randomId())
    // What is taken away when somebody leaves the page is sent all the same.
    return request.method === 'DELETE' ? new Request(request, { keepalive: true }) : request
  },
}

/** The public operations, /api/public/v1. */
export const api = createClient<PublicPaths>({ baseUrl: '/api/public/v1', fetch: send })
/** What only people do, /api/app/v1. */
export const app = createClient<AppPaths>({ baseUrl: '/api/app/v1', fetch: send })
api.use(marks)
app.use(marks)

type Answered<T> = { data?: T; error?: unknown; response: Response }

/** The body of an answer; throws ApiError for everything else. */
export async function body<T>(asked: Promise<Answered<T>>): Promise<T> {
  let answered: Answered<T>
  try {
    answered = await asked
  } catch {
    throw new ApiError(0, 'unreachable', 'The server cannot be reached. Check your connection.')
  }
  if (answered.data !== undefined) return answered.data
  const told = answered.error as { error?: { code?: string; message?: string; reason?: string } } | undefined
  const status = answered.response.status
  throw new ApiError(
    status,
    told?.error?.code ?? 'internal',
    told?.error?.message ?? `The server answered with an error (${status}). Try again.`,
    told?.error?.reason,
  )
}

/** The data of an answer, without its envelope. */
export async function data<T>(asked: Promise<Answered<{ data: T }>>): Promise<T> {
  return (await body(asked)).data
}

/** All records of a paged list. */
export async function all<T>(
  page: (cursor: string | undefined) => Promise<Answered<{ data: T[]; nextCursor?: string }>>,
): Promise<T[]> {
  const records: T[] = []
  let cursor: string | undefined
  do {
    const answer = await body(page(cursor))
    records.push(...answer.data)
    cursor = answer.nextCursor
  } while (cursor)
  return records
}

/** A sentence for a person about anything that was thrown. */
export function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : 'Something went wrong. Try again.'
}
