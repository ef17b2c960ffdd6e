import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as cardwall from '@cardwall/client'
import { refusal, reply, serve } from './server.js'

const path = { cardId: 'crd_1' }

const statuses: [number, cardwall.ErrorCode, typeof cardwall.CardwallError][] = [
  [400, 'invalid_request', cardwall.InvalidRequestError],
  [401, 'unauthenticated', cardwall.UnauthenticatedError],
  [402, 'plan_limit', cardwall.PlanError],
  [403, 'insufficient_scope', cardwall.ForbiddenError],
  [404, 'not_found', cardwall.NotFoundError],
  [405, 'invalid_request', cardwall.UnsupportedOperationError],
  [409, 'archived', cardwall.ConflictError],
  [412, 'invalid_request', cardwall.ConflictError],
  [413, 'invalid_request', cardwall.InvalidRequestError],
  [415, 'invalid_request', cardwall.InvalidRequestError],
  [429, 'rate_limited', cardwall.RateLimitError],
  [500, 'internal', cardwall.ServerError],
  [503, 'unavailable', cardwall.ServerError],
]

for (const [status, code, type] of statuses) {
  test(`status ${status} with ${code} is a ${type.name}`, async (t) => {
    const details = [{ field: 'due.date', rule: 'value', allowed: 'a date' }]
    const body = refusal(status, code, { 'X-Request-Id': 'req_1' }, { reason: 'why', details })
    const { client } = await serve(t, [body], { retries: 0 })
    await assert.rejects(
      client.DELETE('/labels/{labelId}', { params: { path: { labelId: 'l' } } }),
      {
        constructor: type,
        name: type.name,
        status,
        code,
        reason: 'why',
        details,
        requestId: 'req_1',
      },
    )
  })
}

test('a version conflict has the current record', async (t) => {
  const more = { reason: 'version_conflict', current: { id: 'crd_1', title: 'Newer' } }
  const { client } = await serve(t, [refusal(412, 'invalid_request', { ETag: '"v8"' }, more)])
  const params = { path, header: { 'If-Match': '"v7"' } }
  const update = client.PATCH('/cards/{cardId}', { params, body: { title: 'Mine' } })
  await assert.rejects(update, (error: unknown) => {
    assert.ok(error instanceof cardwall.VersionConflictError)
    assert.ok(error instanceof cardwall.ConflictError)
    assert.equal(error.current.title, 'Newer')
    assert.equal(error.etag, '"v8"')
    return true
  })
})

test('an operation that the server does not know is an UnsupportedOperationError', async (t) => {
  const { client } = await serve(t, [
    reply(404, '404 page not found', { 'Content-Type': 'text/plain' }),
  ])
  await assert.rejects(client.POST('/batch', { body: { operations: [] } }), {
    name: 'UnsupportedOperationError',
    status: 404,
    code: undefined,
    message: /^POST \/batch is not supported by this server/,
  })
  const error = { code: 'not_found', message: 'No such path.', reason: 'unknown_path' }
  const { client: older } = await serve(t, [reply(404, { error })])
  await assert.rejects(older.GET('/me'), { name: 'UnsupportedOperationError', code: 'not_found' })
})

test('a response that does not come from the API is a CardwallError', async (t) => {
  const { client, requests } = await serve(t, [reply(200, '<!doctype html>')])
  await assert.rejects(client.GET('/me'), cardwall.CardwallError)
  assert.equal(requests.length, 1)
  const { client: other } = await serve(t, [reply(403, '<html>')])
  await assert.rejects(other.GET('/me'), { name: 'ForbiddenError', code: undefined, status: 403 })
})

test('a record that has not changed is a NotModifiedError', async (t) => {
  const { client } = await serve(t, [(response) => response.writeHead(304).end()])
  const params = { path, header: { 'If-None-Match': '"v7"' } }
  await assert.rejects(client.GET('/cards/{cardId}', { params }), cardwall.NotModifiedError)
})

test('Retry-After may be a date', async (t) => {
  const date = new Date(Date.now() + 90_000).toUTCString()
  const { client } = await serve(t, [refusal(429, 'rate_limited', { 'Retry-After': date })], {
    maxWait: 0,
  })
  await assert.rejects(client.GET('/me'), (error: unknown) => {
    assert.ok(error instanceof cardwall.RateLimitError)
    assert.ok(error.retryAfter! > 80 && error.retryAfter! <= 90)
    return true
  })
})
