import createClient, { mergeHeaders } from 'openapi-fetch'
import type {
  Client as Inner,
  FetchResponse,
  HeadersOptions,
  MaybeOptionalInit,
  ParseAs,
} from 'openapi-fetch'
import { CardwallError, ConnectionError, TimeoutError, errorOf } from './errors.js'
import type { paths } from './schema.js'

/** Options of a client, which are the defaults of its calls. */
export interface ClientOptions {
  /** How often a call is tried again. Defaults to 5. */
  retries?: number
  /** The time limit of each try, in milliseconds. Defaults to 30 seconds. */
  timeout?: number
  /** The longest wait before the first retry, in milliseconds; it doubles each time. Defaults to 500. */
  backoff?: number
  /** The longest wait that a server may ask for, in milliseconds. Defaults to two minutes. */
  maxWait?: number
  /** Replaces the global fetch. */
  fetch?: (request: Request) => Promise<Response>
}

/** Options of a call, in addition to `params`, `body`, `headers`, `parseAs` and `signal`. */
export interface CallOptions {
  /** The key that makes retries of a write safe. Defaults to a random one. */
  idempotencyKey?: string
  /** How often the call is tried again. */
  retries?: number
  /** The time limit of each try, in milliseconds. */
  timeout?: number
  /** Receives the successful response, for example to read its ETag. */
  onResponse?: (response: Response) => void
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The paths that have a method. */
type PathWith<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<M, object> ? Path : never
}[keyof paths]

type Init<Path extends keyof paths, M extends Method> = MaybeOptionalInit<paths[Path], M>

type Arguments<I, Parse extends ParseAs = 'json'> = undefined extends I
  ? [init?: NonNullable<I> & CallOptions & { parseAs?: Parse }]
  : [init: I & CallOptions & { parseAs?: Parse }]

/** The body of a successful response of an operation. */
export type Body<Operation, Parse extends ParseAs = 'json'> =
  Operation extends Record<string | number, any>
    ? NonNullable<FetchResponse<Operation, { parseAs: Parse }, `${string}/${string}`>['data']>
    : never

type Call<M extends Method> = <Path extends PathWith<M>, Parse extends ParseAs = 'json'>(
  path: Path,
  ...init: Arguments<Init<Path, M>, Parse>
) => Promise<Body<paths[Path][M], Parse>>

/** The paths whose GET returns a page of records. */
export type PagedPath = {
  [Path in PathWith<'get'>]: paths[Path] extends { get: { parameters: { query?: infer Query } } }
    ? 'cursor' extends keyof NonNullable<Query>
      ? Path
      : never
    : never
}[PathWith<'get'>]

/** The paths whose GET returns a page with an array of records. */
export type ListPath = {
  [Path in PagedPath]: Body<paths[Path]['get']> extends { data: unknown[] } ? Path : never
}[PagedPath]

/** A record of a list. */
export type RecordOf<Path extends ListPath> =
  Body<paths[Path]['get']> extends { data: (infer R)[] } ? R : never

/** What a call gets at run time. */
interface AnyInit extends CallOptions {
  headers?: HeadersOptions
  params?: { query?: Record<string, unknown>; header?: Record<string, unknown> }
  body?: unknown
  signal?: AbortSignal | null
}

const prefix = '/api/public/v1'

/**
 * Calls the operations of the API. A call returns the body of the response, or throws a
 * `CardwallError`. It tries again after network errors, 429, 502, 503 and 504. All tries of a write
 * have the same idempotency key, so that it takes effect once.
 */
export class Client {
  readonly #inner: Inner<paths>
  readonly #options: Required<ClientOptions>

  /** @param baseURL the address of the server, such as https://cardwall.example.com */
  constructor(baseURL: string, token: string, options: ClientOptions = {}) {
    const address = baseURL.replace(/\/+$/, '')
    this.#inner = createClient<paths>({
      baseUrl: address.endsWith(prefix) ? address : address + prefix,
      headers: { Authorization: `Bearer ${token}` },
      bodySerializer: serialize,
    })
    this.#options = {
      retries: options.retries ?? 5,
      timeout: options.timeout ?? 30_000,
      backoff: options.backoff ?? 500,
      maxWait: options.maxWait ?? 120_000,
      fetch: options.fetch ?? ((request) => globalThis.fetch(request)),
    }
  }

  readonly GET: Call<'get'> = (path, ...[init]) => this.#call('get', path, init)
  readonly POST: Call<'post'> = (path, ...[init]) => this.#call('post', path, init)
  readonly PUT: Call<'put'> = (path, ...[init]) => this.#call('put', path, init)
  readonly PATCH: Call<'patch'> = (path, ...[init]) => this.#call('patch', path, init)
  readonly DELETE: Call<'delete'> = (path, ...[init]) => this.#call('delete', path, init)

  /** Returns the pages of a list. Each is requested when the one before it has been processed. */
  async *pages<Path extends PagedPath>(
    path: Path,
    ...[init]: Arguments<Init<Path, 'get'>>
  ): AsyncGenerator<Body<paths[Path]['get']>, void, undefined> {
    const { params, ...rest } = (init ?? {}) as AnyInit
    for (let cursor = params?.query?.cursor; ;) {
      const query = cursor === undefined ? params?.query : { ...params?.query, cursor }
      const page = await this.#call('get', path, { ...rest, params: { ...params, query } })
      yield page as Body<paths[Path]['get']>
      cursor = (page as { nextCursor?: string }).nextCursor
      if (!cursor) return
    }
  }

  /** Returns all records of a list. */
  async *all<Path extends ListPath>(
    path: Path,
    ...init: Arguments<Init<Path, 'get'>>
  ): AsyncGenerator<RecordOf<Path>, void, undefined> {
    for await (const page of this.pages(path, ...init)) {
      yield* (page as { data: RecordOf<Path>[] }).data
    }
  }

  // The types of the methods above describe the arguments and the result of each path.
  async #call(method: Method, path: string, init: AnyInit = {}): Promise<any> {
    const { idempotencyKey, retries = this.#options.retries, timeout, onResponse, ...rest } = init
    if (method !== 'get') {
      const key = idempotencyKey ?? crypto.randomUUID()
      rest.headers = mergeHeaders({ 'Idempotency-Key': key }, rest.headers)
    }
    if (rest.body instanceof Blob) {
      const type = rest.body.type || 'application/octet-stream'
      rest.headers = mergeHeaders({ 'Content-Type': type }, rest.headers)
    }
    const operation = `${method.toUpperCase()} ${path}`
    const replayable = !(rest.body instanceof ReadableStream)
    for (let n = 0; ; n++) {
      let result
      try {
        result = await this.#try(method, path, operation, rest, timeout)
      } catch (error) {
        if (n >= retries || !replayable || !retriable(error)) throw error
        const wait = (error.retryAfter ?? 0) * 1000
        if (wait > this.#options.maxWait) throw error
        // Waits of random length keep clients from trying again at the same time.
        const backoff = Math.min(this.#options.backoff * 2 ** n, 30_000) * Math.random()
        await sleep(Math.max(wait, backoff), rest.signal)
        continue
      }
      onResponse?.(result.response)
      return result.data
    }
  }

  async #try(
    method: Method,
    path: string,
    operation: string,
    init: AnyInit,
    timeout = this.#options.timeout,
  ): Promise<{ data: unknown; response: Response }> {
    init.signal?.throwIfAborted()
    const timer = new AbortController()
    const timeoutId = setTimeout(() => timer.abort(), timeout)
    const signal = init.signal ? AbortSignal.any([init.signal, timer.signal]) : timer.signal
    let sent = false
    const fetch = (request: Request) => {
      sent = true
      return this.#options.fetch(request)
    }
    let result
    try {
      const request = this.#inner.request as (...args: unknown[]) => Promise<AnyResult>
      result = await request(method, path, { ...init, signal, fetch })
    } catch (cause) {
      if (init.signal?.aborted) throw init.signal.reason
      if (!sent) throw cause // the arguments are invalid
      if (timer.signal.aborted) {
        const message = `${operation}: no response within ${timeout} ms.`
        throw new TimeoutError(message, undefined, undefined, { cause })
      }
      if (cause instanceof SyntaxError) {
        const message = `${operation}: the response is not JSON. Check the address of the server.`
        throw new CardwallError(message, undefined, undefined, { cause })
      }
      throw new ConnectionError(`${operation}: the connection failed.`, undefined, undefined, {
        cause,
      })
    } finally {
      clearTimeout(timeoutId)
    }
    if (result.response.ok) return result
    throw errorOf(operation, result.response, result.error)
  }
}

/** Encodes a body: a file as it is, a record with a file as a form, and other records as JSON. */
function serialize(body: unknown): BodyInit {
  if (body instanceof Blob || body instanceof FormData) return body
  const fields = Object.entries(body as object)
  if (!fields.some(([, value]) => value instanceof Blob)) return JSON.stringify(body)
  const form = new FormData()
  fields.sort(([, a], [, b]) => Number(a instanceof Blob) - Number(b instanceof Blob)) // files last
  for (const [name, value] of fields) form.append(name, value)
  return form
}

interface AnyResult {
  data: unknown
  error?: unknown
  response: Response
}

/**
 * Reports whether the same request may succeed later. A 409 with Retry-After means that the first
 * try, whose connection has broken, is still in progress.
 */
function retriable(error: unknown): error is CardwallError {
  if (error instanceof ConnectionError) return true
  if (!(error instanceof CardwallError)) return false
  if ([429, 502, 503, 504].includes(error.status)) return true
  return error.status === 409 && error.retryAfter !== undefined
}

function sleep(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
