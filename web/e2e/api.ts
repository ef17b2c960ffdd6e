// Requests that tests send to the server directly. nodes.ts may kill a server at any
// time, so a request without a response is retried. The idempotency key makes it happen once.
import type { Page } from '@playwright/test'
import { randomUUID } from 'node:crypto'

/** The server that e2e/server.ts started. */
export function server(): { url: string; email: string; password: string; token: string; outbox: string } {
  const { CARDWALL_URL: url, CARDWALL_E2E_EMAIL: email, CARDWALL_E2E_PASSWORD: password } = process.env
  const { CARDWALL_E2E_TOKEN: token = '', CARDWALL_E2E_OUTBOX: outbox = '' } = process.env
  if (!url || !email || !password) throw new Error('e2e/server.ts did not run')
  return { url, email, password, token, outbox }
}

const maxAttempts = 6
const retryDelay = 100

/** Sends a request in the session of a page, as if from another tab, and returns the data. */
export async function callApi<T = unknown>(page: Page, method: string, path: string, body?: object): Promise<T> {
  // Without a tab ID, so that the page treats it as a change by another person.
  return page.evaluate(
    async ([method, path, body, key, maxAttempts, retryDelay]) => {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
      for (let n = 1; ; n++) {
        const response = await fetch(`/api${path}`, { method, headers, body }).catch(() => null)
        const text = await response?.text().catch(() => null)
        if (response?.ok && typeof text === 'string') return text && (JSON.parse(text) as { data: unknown }).data
        if (n === maxAttempts || (response && response.status !== 502)) throw new Error(`${method} ${path}: ${text}`)
        await new Promise((resolve) => setTimeout(resolve, retryDelay))
      }
    },
    [method, path, body && JSON.stringify(body), randomUUID(), maxAttempts, retryDelay] as const,
  ) as Promise<T>
}

type SendOptions = { method?: string; headers?: Record<string, string>; body?: string | URLSearchParams }

/** Sends a request without a page, as a script does. */
export async function send(path: string, { method = 'POST', headers, body }: SendOptions): Promise<Response> {
  const allHeaders = { 'Idempotency-Key': randomUUID(), ...headers }
  for (let n = 1; ; n++) {
    const response = await fetch(server().url + path, { method, headers: allHeaders, body }).catch((error: unknown) => {
      if (n === maxAttempts) throw error
      return null
    })
    if (response && (response.status !== 502 || n === maxAttempts)) return response
    await new Promise((resolve) => setTimeout(resolve, retryDelay))
  }
}
