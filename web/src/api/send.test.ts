import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connection } from './connection.svelte'
import { onUnauthorized, send } from './send'

type Sent = { key: string | null; body: string }
let sent: Sent[] = []

/** Makes fetch respond with these statuses, in order. A 0 means a lost connection. The last status repeats. */
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

const changeRequest = () =>
  new Request('http://x/cards', { method: 'POST', body: '{"title":"Once"}', headers: { 'Idempotency-Key': 'k' } })

async function resultOf(pending: Promise<Response>): Promise<number | string> {
  const result = pending.then(
    (response) => response.status,
    (thrown: Error) => thrown.message,
  )
  await vi.runAllTimersAsync()
  return result
}

test('a request without a response is retried unchanged', async () => {
  respondWith(0, 502, 503, 201)
  expect(await resultOf(send(changeRequest()))).toBe(201)
  expect(sent).toEqual(Array.from({ length: 4 }, () => ({ key: 'k', body: '{"title":"Once"}' })))
})

test('a request with a response is not retried', async () => {
  for (const status of [200, 400, 409, 429, 500]) {
    sent = []
    respondWith(status)
    expect(await resultOf(send(changeRequest()))).toBe(status)
    expect(sent).toHaveLength(1)
  }
})

test('a change is attempted at most four times', async () => {
  respondWith(0)
  expect(await resultOf(send(changeRequest()))).toBe('Failed to fetch')
  expect(sent).toHaveLength(4)
  sent = []
  respondWith(503)
  expect(await resultOf(send(changeRequest()))).toBe(503)
  expect(sent).toHaveLength(4)
})

test('a change is not retried while offline, and a canceled request is not retried', async () => {
  vi.stubGlobal('navigator', { onLine: false })
  respondWith(0)
  expect(await resultOf(send(changeRequest()))).toBe('Failed to fetch')
  expect(sent).toHaveLength(1)
  vi.stubGlobal('navigator', { onLine: true })
  const controller = new AbortController()
  controller.abort()
  sent = []
  respondWith(0)
  await resultOf(send(new Request('http://x/cards', { signal: controller.signal })))
  expect(sent.length).toBeLessThanOrEqual(1)
})

const readRequest = () => new Request('http://x/api/public/v1/cards')

test('a read is retried until the server responds, and reports the problem meanwhile', async () => {
  respondWith(0, 0, 0, 0, 502, 0, 200)
  const pending = resultOf(send(readRequest()))
  await vi.advanceTimersByTimeAsync(4000)
  expect(connection.problem).toBe('Can’t reach the server.')
  expect(await pending).toBe(200)
  expect(sent).toHaveLength(7)
  expect(connection.problem).toBeNull()
})

test('waiting requests retry when the connection is restored', async () => {
  respondWith(0, 0, 0, 0, 200)
  const status = send(readRequest()).then((response) => response.status)
  await vi.advanceTimersByTimeAsync(4000)
  expect(sent).toHaveLength(4)
  connection.restored()
  await vi.advanceTimersByTimeAsync(0)
  expect(await status).toBe(200)
})

test('after the session has ended, a request is retried with the same key', async () => {
  let signIns = 0
  onUnauthorized(async () => {
    signIns++
    return true
  })
  respondWith(401, 201)
  expect(await resultOf(send(changeRequest()))).toBe(201)
  expect(sent.map((s) => s.key)).toEqual(['k', 'k'])
  expect(signIns).toBe(1)

  // A wrong password is rejected and not retried.
  respondWith(401)
  expect(await resultOf(send(new Request('http://x/api/app/v1/sign-in', { method: 'POST' })))).toBe(401)
  expect(signIns).toBe(1)
  onUnauthorized(async () => false)
})
