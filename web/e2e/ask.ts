// Requests that tests send to the server directly. A server may be killed meanwhile (nodes.ts),
// so requests without a response are repeated; the idempotency key makes them one request.
import type { Page } from '@playwright/test'
import { randomUUID } from 'node:crypto'

/** The server that e2e/server.ts started. */
export function server(): { url: string; email: string; password: string; token: string; outbox: string } {
  const { CARDWALL_URL: url, CARDWALL_E2E_EMAIL: email, CARDWALL_E2E_PASSWORD: password } = process.env
  const { CARDWALL_E2E_TOKEN: token = '', CARDWALL_E2E_OUTBOX: outbox = '' } = process.env
  if (!url || !email || !password) throw new Error('e2e/server.ts did not run')
  return { url, email, password, token, outbox }
}

const tries = 6
const pause = 100

/** Sends a request as the page's person from another tab, and returns the data. */
export async function ask<T = unknown>(page: Page, method: string, path: string, given?: object): Promise<T> {
  // Without a tab ID, so that the page treats it as a change by another person.
  return page.evaluate(
    async ([method, path, body, key, tries, pause]) => {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
      for (let n = 1; ; n++) {
        const answer = await fetch(`/api${path}`, { method, headers, body }).catch(() => null)
        const text = await answer?.text().catch(() => null)
        if (answer?.ok && typeof text === 'string') return text && (JSON.parse(text) as { data: unknown }).data
        if (n === tries || (answer && answer.status !== 502)) throw new Error(`${method} ${path}: ${text}`)
        await new Promise((over) => setTimeout(over, pause))
      }
    },
    [method, path, given && JSON.stringify(given), randomUUID(), tries, pause] as const,
  ) as Promise<T>
}

type Sent = { method?: string; headers?: Record<string, string>; body?: string | URLSearchParams }

/** Sends a request as a program, without any page. */
export async function send(path: string, { method = 'POST', headers, body }: Sent): Promise<Response> {
  const all = { 'Idempotency-Key': randomUUID(), ...headers }
  for (let n = 1; ; n++) {
    const answer = await fetch(server().url + path, { method, headers: all, body }).catch((thrown: unknown) => {
      if (n === tries) throw thrown
      return null
    })
    if (answer && (answer.status !== 502 || n === tries)) return answer
    await new Promise((over) => setTimeout(over, pause))
  }
}
