// What every browser test stands on: a breach of the content security policy
// and an error on the console fail it, whatever it was about.
import { test as base, expect, type Page } from '@playwright/test'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The server that e2e/server.ts started. */
export function server(): { url: string; email: string; password: string; token: string } {
  const { CARDWALL_URL: url, CARDWALL_E2E_EMAIL: email, CARDWALL_E2E_PASSWORD: password } = process.env
  const token = process.env.CARDWALL_E2E_TOKEN ?? ''
  if (!url || !email || !password) throw new Error('e2e/server.ts did not run')
  return { url, email, password, token }
}

/** A workspace of its own, with a board in it. */
export type World = {
  workspaceId: string
  boardId: string
  lists: Record<string, string>
  cards: Record<string, string>
  /** Does what another person would, through the public operations. */
  post: (path: string, body: object) => Promise<string>
}

type Fixtures = { complaints: string[]; signedIn: boolean; world: World }

export const test = base.extend<Fixtures>({
  baseURL: async ({}, use) => use(server().url),
  signedIn: [true, { option: true }],
  page: async ({ page, context, signedIn }, use) => {
    if (signedIn) await context.addCookies([await signIn()])
    await use(page)
  },
  complaints: [
    async ({ page }, use) => {
      const complaints: string[] = []
      page.on('console', (message) => {
        // A refusal that the page shows is no error of the page.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
          complaints.push(message.text())
        }
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      await page.addInitScript(() => {
        addEventListener('securitypolicyviolation', (event) =>
          console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`),
        )
      })
      await use(complaints)
      expect(complaints, 'errors of the console and breaches of the policy').toEqual([])
    },
    { auto: true },
  ],
  world: async ({ page }, use, info) => {
    await use(await makeWorld(page, info.title))
  },
})

let cookie: Promise<{ name: string; value: string; url: string; secure: boolean }> | undefined

/** The cookie of one session for all tests of a worker. */
function signIn() {
  cookie ??= (async () => {
    const { url, email, password } = server()
    const answer = await fetch(`${url}/api/app/v1/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID(), Origin: url },
      body: JSON.stringify({ email, password }),
    })
    expect(answer.ok, await answer.text()).toBeTruthy()
    const [name = '', value = ''] = answer.headers.getSetCookie()[0]?.split(';')[0]?.split('=') ?? []
    return { name, value, url: url.replace('http:', 'https:'), secure: true }
  })()
  return cookie
}

async function makeWorld(page: Page, title: string): Promise<World> {
  // Without the mark of a tab: the page takes it for another's doing.
  const ask = (path: string, body: object): Promise<string> =>
    page.evaluate(
      async ([path, body]) => {
        const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() }
        const answer = await fetch(path, { method: 'POST', headers, body })
        if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
        return ((await answer.json()) as { data: { id: string } }).data.id
      },
      [path, JSON.stringify(body)] as const,
    )
  const post = (path: string, body: object) => ask(`/api/public/v1${path}`, body)
  await page.goto('/nowhere')
  const workspaceId = await ask('/api/app/v1/workspaces', { name: title.slice(0, 60) })
  const boardId = await post('/boards', { workspaceId, name: 'Plan' })
  const lists: Record<string, string> = {}
  const cards: Record<string, string> = {}
  for (const [list, titles] of Object.entries({ 'To do': ['One', 'Two', 'Three'], Doing: ['Four'], Done: [] })) {
    lists[list] = await post(`/boards/${boardId}/lists`, { name: list })
    for (const card of titles) cards[card] = await post('/cards', { listId: lists[list], title: card })
  }
  return { workspaceId, boardId, lists, cards, post }
}

/** What axe finds on the page as it is now, in short. */
export async function axe(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run: () => Promise<{ violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] }>
      }
    }
    const { violations } = await axe.run()
    return violations.flatMap((v) =>
      v.nodes.map((n) => `${v.id}: ${n.target.join(' ')} ${n.failureSummary.replace(/\s+/g, ' ').slice(0, 200)}`),
    )
  })
}

/** The titles of a list's cards, top to bottom. */
export async function titles(page: Page, list: string): Promise<string[]> {
  const texts = await page.getByRole('region', { name: list }).locator('[data-card] .title').allInnerTexts()
  return texts.map((t) => t.replace(/\s+/g, ' ').trim())
}

export { expect }
