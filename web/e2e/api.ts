// Requests that tests send directly to the server. A request without a response is retried,
// because nodes.ts may kill a server at any time. Its idempotency key ensures that it takes effect
// only once.
import type { Page } from '@playwright/test'
import { randomUUID } from 'node:crypto'
// eslint-disable-next-line no-restricted-syntax -- the delay between attempts while a server restarts
import { setTimeout as sleep } from 'node:timers/promises'

/** A server under test, with the credentials of its demo account. */
export type TestServer = { url: string; email: string; password: string; token: string; outbox: string }

/**
 * Returns the server of this worker. e2e/server.ts starts one for each worker, so that tests that run at the same time
 * do not share an account.
 */
export function server(): TestServer {
  const servers = JSON.parse(process.env.CARDWALL_E2E_SERVERS ?? '[]') as TestServer[]
  if (servers.length === 0) throw new Error('e2e/server.ts did not run')
  return servers[Number(process.env.TEST_PARALLEL_INDEX ?? 0) % servers.length]!
}

const maxAttempts = 6
const retryDelay = 100 // ms

/**
 * Sends a request in the session of a page and returns the data. The page itself does not send it, so it may be on any
 * page or offline. The request has no tab ID, so the page treats it as a change by another person.
 */
export async function callApi<T = unknown>(page: Page, method: string, path: string, body?: object): Promise<T> {
  const origin = page.url().startsWith('http') ? new URL(page.url()).origin : server().url
  const headers: Record<string, string> = { Origin: origin, Cookie: await cookiesOf(page) }
  if (body) headers['Content-Type'] = 'application/json'
  const response = await send(`/api${path}`, { origin, method, headers, body: body && JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  return (text ? (JSON.parse(text) as { data: unknown }).data : undefined) as T
}

/** Returns the cookies of a page, as the Cookie header of its requests. */
export async function cookiesOf(page: Page): Promise<string> {
  return (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
}

type SendOptions = {
  origin?: string
  method?: string
  headers?: Record<string, string>
  body?: string | URLSearchParams | FormData
}

/** Sends a request without a page, as a script would. */
export async function send(path: string, options: SendOptions): Promise<Response> {
  const { origin = server().url, method = 'POST', headers, body } = options
  const allHeaders = { 'Idempotency-Key': randomUUID(), ...headers }
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(origin + path, { method, headers: allHeaders, body }).catch((error: unknown) => {
      if (attempt === maxAttempts) throw error
      return null
    })
    if (response && (response.status !== 502 || attempt === maxAttempts)) return response
    await sleep(retryDelay)
  }
}
