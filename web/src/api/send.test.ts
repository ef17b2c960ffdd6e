import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connection } from './connection.svelte'
import { onUnauthorized, send } from './send'

type Sent = { key: string | null; body: string }
let sent: Sent[] = []

/** Makes fetch respond with each status in turn; 0 is a lost connection. */
function respondWith(...statuses: number[]): void {
  vi.stubGlobal('fetch', async (request: Request) => {
    sent.push({ key: request.headers.get('Idempotency-Key'), body: await request.text() })
    const status = statuses[Math.min(sent.length, statuses.length) - 1]!
    if (status === 0) throw new TypeError('Failed to fetch')
    return new Response('{}', { status })
  })
}

beforeEach(() => {
  sent = []
  vi.useFakeTimers()
  vi.stubGlobal('navigator', { onLine: true })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const change = () =>
  new Request('http://x/cards', { method: 'POST', body: '{"title":"Once"}', headers: { 'Idempotency-Key': 'k' } })

async function after(pending: Promise<Response>): Promise<number | string> {
  const result = pending.then(
    (response) => response.status,
    (thrown: Error) => thrown.message,
  )
  await vi.runAllTimersAsync()
  return result
}

test('a request without a response is repeated unchanged', async () => {
  respondWith(0, 502, 503, 201)
  expect(await after(send(change()))).toBe(201)
  expect(sent).toEqual(Array.from({ length: 4 }, () => ({ key: 'k', body: '{"title":"Once"}' })))
})

test('a request with a response is not repeated', async () => {
  for (const status of [200, 400, 409, 429, 500]) {
    sent = []
    respondWith(status)
    expect(await after(send(change()))).toBe(status)
    expect(sent).toHaveLength(1)
  }
})

test('repeats end after a while', async () => {
  respondWith(0)
  expect(await after(send(change()))).toBe('Failed to fetch')
  expect(sent).toHaveLength(4)
  sent = []
  respondWith(503)
  expect(await after(send(change()))).toBe(503)
  expect(sent).toHaveLength(4)
})

test('offline and canceled requests are sent only once', async () => {
  vi.stubGlobal('navigator', { onLine: false })
  respondWith(0)
  expect(await after(send(change()))).toBe('Failed to fetch')
  expect(sent).toHaveLength(1)
  vi.stubGlobal('navigator', { onLine: true })
  const stop = new AbortController()
  stop.abort()
  sent = []
  respondWith(0)
  await after(send(new Request('http://x/cards', { signal: stop.signal })))
  expect(sent.length).toBeLessThanOrEqual(1)
})

const read = () => new Request('http://x/api/public/v1/cards')

test('a read waits for the server, reports that, and continues', async () => {
  respondWith(0, 0, 0, 0, 502, 0, 200)
  const pending = after(send(read()))
  await vi.advanceTimersByTimeAsync(4000)
  expect(connection.problem).toBe('Can’t reach the server.')
  expect(await pending).toBe(200)
  expect(sent).toHaveLength(7)
  expect(connection.problem).toBeNull()
})

test('one successful request wakes the waiting ones', async () => {
  respondWith(0, 0, 0, 0, 200)
  const waits = send(read()).then((response) => response.status)
  await vi.advanceTimersByTimeAsync(4000)
  expect(sent).toHaveLength(4)
  connection.restored()
  await vi.advanceTimersByTimeAsync(0)
  expect(await waits).toBe(200)
})

test('requests after the end of the session are repeated with the same key', async () => {
  const asked: string[] = []
  onUnauthorized(async () => {
    asked.push('sign in')
    return true
  })
  respondWith(401, 201)
  expect(await after(send(change()))).toBe(201)
  expect(sent.map((s) => s.key)).toEqual(['k', 'k'])
  expect(asked).toEqual(['sign in'])

  // A wrong password is rejected and not retried.
  respondWith(401)
  expect(await after(send(new Request('http://x/api/app/v1/sign-in', { method: 'POST' })))).toBe(401)
  expect(asked).toEqual(['sign in'])
  onUnauthorized(async () => false)
})
