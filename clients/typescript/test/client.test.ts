import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConnectionError, RateLimitError, ServerError, TimeoutError } from '@cardwall/client'
import { cut, refusal, reply, serve, type Reply } from './server.js'

const card = { data: { id: 'crd_1', title: 'Write' }, boardVersion: 7 }
const create = { body: { listId: 'lst_1', title: 'Write' } }

function keys(requests: { headers: { [name: string]: unknown } }[]): unknown[] {
  return requests.map((request) => request.headers['idempotency-key'])
}

test('a call sends the token, the parameters and the body, and returns the body', async (t) => {
  const { client, requests } = await serve(t, [reply(201, card, { ETag: '"v7"' })])
  let etag: string | null = null
  const onResponse = (response: Response) => (etag = response.headers.get('ETag'))
  const created = await client.POST('/cards', { ...create, onResponse })
  assert.deepEqual(created, card)
  assert.equal(etag, '"v7"')
  const params = { path: { boardId: 'brd 1' }, query: { limit: 5, q: 'a&b' } }
  await client.GET('/boards/{boardId}/cards', { params })
  const [post, get] = requests
  assert.equal(post!.method, 'POST')
  assert.equal(post!.url, '/api/public/v1/cards')
  assert.equal(post!.headers.authorization, 'Bearer token')
  assert.equal(post!.headers['content-type'], 'application/json')
  assert.deepEqual(JSON.parse(post!.body), create.body)
  assert.equal(get!.url, '/api/public/v1/boards/brd%201/cards?limit=5&q=a%26b')
})

test('a file is sent as it is, and a record with a file as a form', async (t) => {
  const { client, requests } = await serve(t, [refusal(503, 'unavailable'), reply(200, card)])
  const picture = new Blob(['pixels'], { type: 'image/png' })
  const params = { path: { boardId: 'brd_1' } }
  await client.PUT('/boards/{boardId}/background', { params, body: picture })
  const file = new File(['text'], 'plan.txt', { type: 'text/plain' })
  const body = { file, name: 'Plan' }
  await client.POST('/cards/{cardId}/attachments', { params: { path: { cardId: 'crd_1' } }, body })
  const [, put, post] = requests
  assert.equal(put!.headers['content-type'], 'image/png')
  assert.equal(put!.body, 'pixels')
  assert.match(post!.headers['content-type']!, /^multipart\/form-data; boundary=/)
  assert.match(post!.body, /name="name"\r\n\r\nPlan\r\n.*name="file"; filename="plan.txt"/s)
})

test('a write is tried again with the same key', async (t) => {
  const truncated: Reply = (response) => {
    response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': '100' })
    response.write('{"data":', () => response.destroy())
  }
  const faults = [cut, refusal(503, 'unavailable'), truncated, reply(502, '<html>'), reply(504, '')]
  const { client, requests } = await serve(t, [...faults, reply(201, card)])
  assert.deepEqual(await client.POST('/cards', create), card)
  assert.equal(requests.length, 6)
  assert.match(String(keys(requests)[0]), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  assert.equal(new Set(keys(requests)).size, 1, 'all tries have the same key')
  assert.deepEqual(
    requests.map((request) => request.body),
    Array(6).fill(JSON.stringify(create.body)),
  )
})

test('each write has another key, unless the caller gives one, and a read has none', async (t) => {
  const { client, requests } = await serve(t, [reply(200, card)])
  await client.POST('/cards', create)
  await client.POST('/cards', create)
  await client.POST('/cards', { ...create, idempotencyKey: 'mine' })
  await client.POST('/cards', { ...create, params: { header: { 'Idempotency-Key': 'mine too' } } })
  await client.GET('/me')
  const [first, second, ...others] = keys(requests)
  assert.notEqual(first, second)
  assert.deepEqual(others, ['mine', 'mine too', undefined])
})

test('a retry waits for as long as Retry-After says', async (t) => {
  const limited = refusal(429, 'rate_limited', { 'Retry-After': '1' })
  const { client, requests } = await serve(t, [limited, reply(200, card)])
  const start = performance.now()
  await client.GET('/me')
  assert.equal(requests.length, 2)
  assert.ok(performance.now() - start >= 999, 'the retry waits for a second')
})

test('a wait that is too long is an error', async (t) => {
  const limited = refusal(429, 'rate_limited', { 'Retry-After': '121' })
  const { client, requests } = await serve(t, [limited])
  await assert.rejects(client.GET('/me'), (error: unknown) => {
    assert.ok(error instanceof RateLimitError)
    assert.equal(error.retryAfter, 121)
    return true
  })
  assert.equal(requests.length, 1)
})

test('a call gives up after its retries', async (t) => {
  const { client, requests } = await serve(t, [refusal(503, 'unavailable')])
  await assert.rejects(client.GET('/me'), ServerError)
  assert.equal(requests.length, 6)
  await assert.rejects(client.GET('/me', { retries: 1 }), ServerError)
  assert.equal(requests.length, 8)
})

test('an error of onResponse is not tried again', async (t) => {
  const { client, requests } = await serve(t, [reply(200, card)])
  const onResponse = () => {
    throw new ConnectionError('mine')
  }
  await assert.rejects(client.GET('/me', { onResponse }), { message: 'mine' })
  assert.equal(requests.length, 1)
})

test('a broken connection is an error after the retries', async (t) => {
  const { client, requests } = await serve(t, [cut], { retries: 2 })
  await assert.rejects(client.GET('/me'), ConnectionError)
  assert.equal(requests.length, 3)
})

test('only a conflict with Retry-After is tried again', async (t) => {
  const running = refusal(409, 'invalid_request', { 'Retry-After': '0' })
  const { client, requests } = await serve(t, [running, reply(200, card), refusal(409, 'archived')])
  assert.deepEqual(await client.POST('/cards', create), card)
  assert.equal(keys(requests)[0], keys(requests)[1])
  await assert.rejects(client.POST('/cards', create), { code: 'archived' })
  assert.equal(requests.length, 3)
})

test('other errors are not tried again', async (t) => {
  const { client, requests } = await serve(t, [refusal(400, 'invalid_request')])
  await assert.rejects(client.POST('/cards', create), { status: 400 })
  const { client: other, requests: received } = await serve(t, [refusal(500, 'internal')])
  await assert.rejects(other.POST('/cards', create), { status: 500 })
  assert.deepEqual([requests.length, received.length], [1, 1])
})

test('a try without a complete response ends after the timeout', async (t) => {
  const silent = () => {}
  const halting: Reply = (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"data":')
  }
  const { client, requests } = await serve(t, [silent, halting, reply(200, card)], { timeout: 100 })
  assert.deepEqual(await client.GET('/me'), card)
  assert.ok(requests.length >= 3)
  const { client: other } = await serve(t, [silent])
  await assert.rejects(other.GET('/me', { timeout: 20, retries: 1 }), TimeoutError)
})

test('the caller can abort a call, also between tries', async (t) => {
  const mine = new AbortController()
  const { client, requests } = await serve(t, [() => mine.abort(new Error('mine'))])
  const once = client.GET('/me', { signal: mine.signal, retries: 0 })
  await assert.rejects(once, { message: 'mine' })
  await assert.rejects(client.GET('/me', { signal: mine.signal }), { message: 'mine' })
  assert.equal(requests.length, 1)

  const other = new AbortController()
  const busy = refusal(503, 'unavailable', { 'Retry-After': '60' })
  const abortSoon: Reply = (response, request) => {
    busy(response, request)
    setTimeout(() => other.abort(), 50)
  }
  const { client: waiting, requests: received } = await serve(t, [abortSoon])
  const start = performance.now()
  const call = waiting.GET('/me', { signal: other.signal })
  await assert.rejects(call, { name: 'AbortError' })
  assert.ok(performance.now() - start < 30_000, 'the call does not wait for the next try')
  assert.equal(received.length, 1)
})

test('the pages of a list follow nextCursor', async (t) => {
  const page = (n: number, next?: string) =>
    reply(200, { data: [{ id: `${n}a` }, { id: `${n}b` }], nextCursor: next, boardVersion: n })
  const replies = [page(1, 'x='), refusal(503, 'unavailable'), page(2, 'y'), page(3)]
  const { client, requests } = await serve(t, replies)
  const ids: string[] = []
  const params = { path: { boardId: 'brd_1' }, query: { limit: 2 } }
  for await (const label of client.all('/boards/{boardId}/labels', { params })) ids.push(label.id)
  assert.deepEqual(ids, ['1a', '1b', '2a', '2b', '3a', '3b'])
  const queries = requests.map((request) => request.url.split('?')[1])
  assert.deepEqual(queries, [
    'limit=2',
    ...Array(2).fill('limit=2&cursor=x%3D'),
    'limit=2&cursor=y',
  ])

  const { client: other, requests: received } = await serve(t, [page(1, 'x'), page(2, 'y')])
  for await (const { boardVersion } of other.pages('/boards/{boardId}/changes', { params })) {
    if (boardVersion === 2) break
  }
  assert.equal(received.length, 2, 'no page is requested before it is needed')
})
