// How tests ask the server themselves. A server may be killed meanwhile
// (nodes.ts): what nobody answered is sent again, and the key makes it one request.
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

/** Asks as the page's person does in another tab, and answers the data. */
export async function ask<T = unknown>(page: Page, method: string, path: string, given?: object): Promise<T> {
  // Without the mark of a tab: the page takes it for another's doing.
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

/** Asks as a program does, which no page knows of. */
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
