// Requests that tests send directly to the server. A request without a response is retried,
// because nodes.ts may kill a server at any time. Its idempotency key ensures that it takes effect
// only once.
import type { Page } from '@playwright/test'
import { randomUUID } from 'node:crypto'

/** Returns the server that e2e/server.ts started, with the credentials of the demo account. */
export function server(): { url: string; email: string; password: string; token: string; outbox: string } {
  const { CARDWALL_URL: url, CARDWALL_E2E_EMAIL: email, CARDWALL_E2E_PASSWORD: password } = process.env
  const { CARDWALL_E2E_TOKEN: token = '', CARDWALL_E2E_OUTBOX: outbox = '' } = process.env
  if (!url || !email || !password) throw new Error('e2e/server.ts did not run')
  return { url, email, password, token, outbox }
}

const maxAttempts = 6
const retryDelay = 100 // ms

/**
 * Sends a request in the session of a page and returns the data. The request has no tab ID, so the
 * page treats it as a change by another person.
 */
export async function callApi<T = unknown>(page: Page, method: string, path: string, body?: object): Promise<T> {
  return page.evaluate(
    async ([method, path, body, key, maxAttempts, retryDelay]) => {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
      for (let attempt = 1; ; attempt++) {
        const response = await fetch(`/api${path}`, { method, headers, body }).catch(() => null)
        const text = await response?.text().catch(() => null)
        if (response?.ok && typeof text === 'string') return text && (JSON.parse(text) as { data: unknown }).data
        if (attempt === maxAttempts || (response && response.status !== 502))
          throw new Error(`${method} ${path}: ${text}`)
        await new Promise((resolve) => setTimeout(resolve, retryDelay))
      }
    },
    [method, path, body && JSON.stringify(body), randomUUID(), maxAttempts, retryDelay] as const,
  ) as Promise<T>
}

type SendOptions = { method?: string; headers?: Record<string, string>; body?: string | URLSearchParams }

/** Sends a request without a page, as a script would. */
export async function send(path: string, { method = 'POST', headers, body }: SendOptions): Promise<Response> {
  const allHeaders = { 'Idempotency-Key': randomUUID(), ...headers }
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(server().url + path, { method, headers: allHeaders, body }).catch((error: unknown) => {
      if (attempt === maxAttempts) throw error
      return null
    })
    if (response && (response.status !== 502 || attempt === maxAttempts)) return response
    await new Promise((resolve) => setTimeout(resolve, retryDelay))
  }
}
