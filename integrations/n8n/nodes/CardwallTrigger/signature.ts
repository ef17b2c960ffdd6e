import { createHmac, timingSafeEqual } from 'node:crypto'

/** The headers of a request. Their names are in lower case. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

/** How far the time of a delivery may be from the current time, in seconds. */
const tolerance = 300

/**
 * Reports whether a delivery has a valid signature and a current time, as Standard Webhooks
 * defines them. The body must have exactly the bytes that arrived.
 */
export function isAuthentic(secret: string, headers: Headers, body: Buffer): boolean {
  const id = text(headers['webhook-id'])
  const timestamp = text(headers['webhook-timestamp'])
  const signatures = text(headers['webhook-signature'])

  const sent = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN
  const isCurrent = Math.abs(Date.now() / 1000 - sent) <= tolerance
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  if (!id || !isCurrent || key.length === 0) return false

  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signatures.split(' ').some((entry) => {
    const given = entry.startsWith('v1,') ? Buffer.from(entry.slice('v1,'.length), 'base64') : null
    return given?.length === expected.length && timingSafeEqual(given, expected)
  })
}

function text(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : ''
}
