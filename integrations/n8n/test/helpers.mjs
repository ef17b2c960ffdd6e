// What the tests of the trigger and those in a real n8n share.
import { createHmac } from 'node:crypto'

/**
 * Sends a delivery with a signature. Age is its age in seconds. Returns the status of the response.
 */
export async function deliver(url, secret, delivery, age = 0) {
  const body = JSON.stringify(delivery)
  const time = Math.round(Date.now() / 1000) - age
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const hmac = createHmac('sha256', key).update(`${delivery.id}.${time}.${body}`)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': delivery.id,
      'webhook-timestamp': String(time),
      'webhook-signature': `v1,unknown v1,${hmac.digest('base64')}`,
    },
    body,
  })
  return response.status
}

/** A secret that is not the one of any webhook. */
export const wrongSecret = `whsec_${Buffer.alloc(32).toString('base64')}`

/** Waits until a condition holds and returns its value. */
export async function until(condition, seconds = 10) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    const value = await condition()
    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`not within ${seconds} seconds: ${condition}`)
}
