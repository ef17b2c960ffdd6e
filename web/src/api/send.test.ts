import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connection } from './connection.svelte'
import { onUnauthorized, send } from './send'

type Sent = { key: string | null; body: string }
let sent: Sent[] = []

/** Has fetch answer in turn; a status of 0 is a lost connection. */
function answers(...statuses: number[]): void {
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

async function after(asked: Promise<Response>): Promise<number | string> {
  const told = asked.then(
    (answer) => answer.status,
    (thrown: Error) => thrown.message,
  )
  await vi.runAllTimersAsync()
  return told
}

test('what nobody answered is sent again, the same each time', async () => {
  answers(0, 502, 503, 201)
  expect(await after(send(change()))).toBe(201)
  expect(sent).toEqual(Array.from({ length: 4 }, () => ({ key: 'k', body: '{"title":"Once"}' })))
})

test('what was answered is not', async () => {
  for (const status of [200, 400, 409, 429, 500]) {
    sent = []
    answers(status)
    expect(await after(send(change()))).toBe(status)
    expect(sent).toHaveLength(1)
  }
})

test('it does not go on for ever', async () => {
  answers(0)
  expect(await after(send(change()))).toBe('Failed to fetch')
  expect(sent).toHaveLength(4)
  sent = []
  answers(503)
  expect(await after(send(change()))).toBe(503)
  expect(sent).toHaveLength(4)
})

test('without a network, and for who has gone, once is enough', async () => {
  vi.stubGlobal('navigator', { onLine: false })
  answers(0)
  expect(await after(send(change()))).toBe('Failed to fetch')
  expect(sent).toHaveLength(1)
  vi.stubGlobal('navigator', { onLine: true })
  const stop = new AbortController()
  stop.abort()
  sent = []
  answers(0)
  await after(send(new Request('http://x/cards', { signal: stop.signal })))
  expect(sent.length).toBeLessThanOrEqual(1)
})

const read = () => new Request('http://x/api/public/v1/cards')

test('a read waits for the server, says so, and goes on', async () => {
  answers(0, 0, 0, 0, 502, 0, 200)
  const asked = after(send(read()))
  await vi.advanceTimersByTimeAsync(4000)
  expect(connection.problem).toBe('Can’t reach the server.')
  expect(await asked).toBe(200)
  expect(sent).toHaveLength(7)
  expect(connection.problem).toBeNull()
})

test('one that is heard wakes the others', async () => {
  answers(0, 0, 0, 0, 200)
  const waits = send(read()).then((answer) => answer.status)
  await vi.advanceTimersByTimeAsync(4000)
  expect(sent).toHaveLength(4)
  connection.restored()
  await vi.advanceTimersByTimeAsync(0)
  expect(await waits).toBe(200)
})

test('what came after the end of the session is sent again with its key', async () => {
  const asked: string[] = []
  onUnauthorized(async () => {
    asked.push('sign in')
    return true
  })
  answers(401, 201)
  expect(await after(send(change()))).toBe(201)
  expect(sent.map((s) => s.key)).toEqual(['k', 'k'])
  expect(asked).toEqual(['sign in'])

  // A wrong password is refused, and not tried again.
  answers(401)
  expect(await after(send(new Request('http://x/api/app/v1/sign-in', { method: 'POST' })))).toBe(401)
  expect(asked).toEqual(['sign in'])
  onUnauthorized(async () => false)
})
