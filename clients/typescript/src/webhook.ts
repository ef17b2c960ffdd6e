import type { components } from './schema.js'

/** The body of a delivery. Its `type` tells which fields `data` has. */
export type WebhookEvent = components['schemas']['WebhookEvent']

/** Why a delivery is not authentic. */
export type WebhookProblem = 'header' | 'secret' | 'timestamp' | 'signature' | 'body'

/** A delivery is not authentic, or cannot be verified. Respond with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'

  constructor(
    readonly problem: WebhookProblem,
    message: string,
  ) {
    super(message)
  }
}

/** The headers of a request: those of fetch, or those of Node.js, whose names are in lower case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>

/** Options of `verifyWebhook`. */
export interface WebhookOptions {
  /** How far the time of a delivery may be from the current time, in seconds. Defaults to 300. */
  tolerance?: number
  /** The current time. */
  now?: Date
}

/**
 * Verifies the signature and the time of a delivery, and returns its event. The body must have
 * exactly the bytes that arrived. Give several secrets while one replaces another. Later versions
 * of the server may send events of other types; ignore those that you don't know.
 *
 * @throws {WebhookVerificationError} if the delivery is not authentic
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  options: WebhookOptions = {},
): Promise<WebhookEvent> {
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const signatures = header(headers, 'webhook-signature')
  checkTime(timestamp, options)

  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  const keys = await Promise.all([secrets].flat().map(importKey))
  if (!(await anyValid(keys, signatures, signed))) {
    const message =
      'No entry of webhook-signature is valid. Check the secret, and verify the raw body.'
    throw new WebhookVerificationError('signature', message)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as WebhookEvent
  } catch {
    throw new WebhookVerificationError('body', 'The body is not JSON.')
  }
}

function header(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (typeof value !== 'string' || value === '') {
    throw new WebhookVerificationError('header', `The header ${name} is missing.`)
  }
  return value
}

function checkTime(timestamp: string, { tolerance = 300, now = new Date() }: WebhookOptions): void {
  const sent = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : NaN
  if (!(Math.abs(now.getTime() / 1000 - sent) <= tolerance)) {
    const message = `webhook-timestamp is more than ${tolerance} seconds off, or is not a time.`
    throw new WebhookVerificationError('timestamp', message)
  }
}

async function importKey(secret: string): Promise<CryptoKey> {
  const key = secret.startsWith('whsec_') ? decode(secret.slice('whsec_'.length)) : undefined
  if (!key?.length) {
    const message = 'A signing secret must be whsec_ and the key in base64.'
    throw new WebhookVerificationError('secret', message)
  }
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Reports whether any signature is valid for any key. WebCrypto compares in constant time. */
async function anyValid(
  keys: CryptoKey[],
  signatures: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const entry of signatures.split(' ')) {
    const signature = entry.startsWith('v1,') ? decode(entry.slice('v1,'.length)) : undefined
    if (!signature) continue
    for (const key of keys) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
    }
  }
  return false
}

/** Decodes base64. Returns undefined if the text is not base64. */
function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  } catch {
    return undefined
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
