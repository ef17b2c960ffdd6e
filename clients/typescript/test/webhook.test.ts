import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { WebhookVerificationError, verifyWebhook, type WebhookProblem } from '@cardwall/client'

const secret = `whsec_${btoa('a'.repeat(32))}`
const other = `whsec_${btoa('b'.repeat(32))}`
const id = 'itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42'
const sent = 1772460000
const body = JSON.stringify({ id, type: 'card.moved', data: { cardId: 'crd_1' }, note: 'é' })
const now = new Date(sent * 1000)

function sign(text: string | Buffer, key = secret, timestamp: number | string = sent): string {
  const hmac = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
  return `v1,${hmac.update(`${id}.${timestamp}.`).update(text).digest('base64')}`
}

function headers(signature = sign(body), timestamp: number | string = sent) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  }
}

function rejects(problem: WebhookProblem, delivery: Promise<unknown>): Promise<void> {
  return assert.rejects(delivery, (error: unknown) => {
    assert.ok(error instanceof WebhookVerificationError, String(error))
    assert.equal(error.problem, problem)
    return true
  })
}

test('a delivery with a valid signature returns its event', async () => {
  const event = await verifyWebhook(secret, headers(), body, { now })
  assert.equal(event.id, id)
  if (event.type !== 'card.moved') assert.fail(event.type)
  assert.equal(event.data.cardId, 'crd_1')
})

test('the signature of the documentation is valid', async () => {
  // printf … | openssl dgst -sha256 -hmac aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa -binary | base64
  const signature = 'v1,gryOCBIo5iJY/ppSXMvZxvoT7xHUlH2pBg/j6Etf9D4='
  await verifyWebhook(secret, headers(signature), `{"id":"${id}"}`, { now })
})

test('headers and body may have any form', async () => {
  const buffer = Buffer.from(`x${body}`).subarray(1) // a view of a larger buffer
  await verifyWebhook(secret, new Headers(headers()), buffer, { now })
  await verifyWebhook(secret, headers(), new TextEncoder().encode(body).buffer, { now })
})

test('during a rotation, either secret and either signature is enough', async () => {
  const both = `${sign(body, other)} v1a,AAAA ${sign(body)}`
  await verifyWebhook(secret, headers(both), body, { now })
  await verifyWebhook([other], headers(both), body, { now })
  await verifyWebhook([other, secret], headers(), body, { now })
  await rejects('signature', verifyWebhook(other, headers(), body, { now }))
})

test('a changed delivery is rejected', async () => {
  await rejects('signature', verifyWebhook(secret, headers(), body.replace('1', '2'), { now }))
  await rejects('signature', verifyWebhook(secret, headers(), `${body}\n`, { now }))
  await rejects('signature', verifyWebhook(secret, headers(sign(body), sent + 1), body, { now }))
  const changedId = { ...headers(), 'webhook-id': 'itg_2' }
  await rejects('signature', verifyWebhook(secret, changedId, body, { now }))
  for (const wrong of ['v1,', 'v1,?', sign(body).slice(3), sign(body).replace('v1,', 'v2,')]) {
    await rejects('signature', verifyWebhook(secret, headers(wrong), body, { now }))
  }
})

test('a delivery that is too old or too new is rejected', async () => {
  const after = (seconds: number) => ({ now: new Date((sent + seconds) * 1000) })
  await verifyWebhook(secret, headers(), body, after(300))
  await verifyWebhook(secret, headers(), body, after(-300))
  await verifyWebhook(secret, headers(), body, { ...after(900), tolerance: 900 })
  await rejects('timestamp', verifyWebhook(secret, headers(), body, after(301)))
  await rejects('timestamp', verifyWebhook(secret, headers(), body, after(-301)))
  await rejects('timestamp', verifyWebhook(secret, headers(), body)) // at the time of this test
  for (const wrong of ['now', '1e9', `${sent}.5`]) {
    const delivery = verifyWebhook(secret, headers(sign(body, secret, wrong), wrong), body, { now })
    await rejects('timestamp', delivery)
  }
})

test('what cannot be verified is rejected', async () => {
  for (const name of Object.keys(headers())) {
    await rejects(
      'header',
      verifyWebhook(secret, { ...headers(), [name]: undefined }, body, { now }),
    )
  }
  for (const wrong of ['', 'whsec_', 'whsec_?', 'secret']) {
    await rejects('secret', verifyWebhook(wrong, headers(), body, { now }))
  }
  await rejects('signature', verifyWebhook([], headers(), body, { now }))
  await rejects('body', verifyWebhook(secret, headers(sign('text')), 'text', { now }))
  const bytes = Buffer.from([0x22, 0xff, 0x22]) // not UTF-8
  await rejects('body', verifyWebhook(secret, headers(sign(bytes)), bytes, { now }))
})
