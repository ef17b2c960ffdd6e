// The fixtures of all browser tests. They fail a test if a page violates its content security
// policy or logs an error on the console.
import {
  test as base,
  expect,
  type Browser,
  type BrowserContextOptions,
  type Locator,
  type Page,
  type Request,
} from '@playwright/test'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { callApi, cookiesOf, send, server } from './api'

export { callApi, cookiesOf, send, server }

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The workspace of one test, with a board. */
export type World = {
  workspaceId: string
  workspaceName: string
  boardId: string
  lists: Record<string, string>
  cards: Record<string, string>
  /** Posts to the public API, and returns the new ID. The page treats it as a change by another person. */
  post: (path: string, body: object) => Promise<string>
}

type Fixtures = {
  pageErrors: string[]
  /** Whether a failed request fails the test. */
  failOnFailedRequests: boolean
  /** The failures that are allowed with failOnFailedRequests, matched against the message and the URL. */
  expectedFailures: RegExp[]
  signedIn: boolean
  world: World
  /** Opens a page in another browser context, without a session. */
  newSignedOutPage: (options?: BrowserContextOptions) => Promise<Page>
}

export const test = base.extend<Fixtures>({
  baseURL: async ({}, use) => use(server().url),
  signedIn: [true, { option: true }],
  failOnFailedRequests: [false, { option: true }],
  expectedFailures: async ({}, use) => use([]),
  page: async ({ page, context, signedIn }, use) => {
    const session = signedIn ? await signIn() : undefined
    if (session) await context.addCookies([session])
    await use(page)
    // Forget a cookie that the test replaced by confirming or ending the session. signIn() might not notice the
    // change, because the server may accept the old cookie for another second.
    const cookies = await context.cookies().catch(() => []) // a test may have closed the context
    if (session && !cookies.some((c) => c.value === session.value)) sharedCookie = undefined
  },
  pageErrors: [
    async ({ page, failOnFailedRequests, expectedFailures }, use) => {
      const pageErrors: string[] = []
      await collectErrors(page, pageErrors)
      await use(pageErrors)
      const isUnexpected = (text: string) =>
        !text.startsWith(failedRequestPrefix) ||
        (failOnFailedRequests && !expectedFailures.some((failure) => failure.test(text)))
      expect(pageErrors.filter(isUnexpected), 'console errors and violations of the policy').toEqual([])
    },
    { auto: true },
  ],
  world: async ({ page }, use, info) => {
    const world = await makeWorld(page, info.retry ? `${info.title.slice(0, 50)} (${info.retry + 1})` : info.title)
    await use(world)
    await page.goto('about:blank').catch(() => undefined) // a test may have closed the page
    await removeWorkspace(world.workspaceId)
  },
  newSignedOutPage: async ({ browser, pageErrors }, use) => {
    const contexts: Awaited<ReturnType<Browser['newContext']>>[] = []
    await use(async (options) => {
      const context = await browser.newContext({ baseURL: server().url, ...options })
      contexts.push(context)
      const page = await context.newPage()
      await collectErrors(page, pageErrors)
      return page
    })
    for (const context of contexts) await context.close()
  },
})

/** The beginning of a browser's console message about a failed request. */
const failedRequestPrefix = 'Failed to load resource'

/** Collects the console errors, exceptions and policy violations of a page. */
async function collectErrors(page: Page, pageErrors: string[]): Promise<void> {
  trackRequests(page)
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    const text = message.text()
    pageErrors.push(text.startsWith(failedRequestPrefix) ? `${text} ${message.location().url}` : text)
  })
  page.on('pageerror', (error) => pageErrors.push(String(error)))
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`),
    )
  })
}

type Cookie = { name: string; value: string; url: string; secure: boolean }

let sharedCookie: Promise<Cookie> | undefined
let recentSession: Promise<Cookie> | undefined

/** Returns the session cookie that the tests of a worker share, and signs in again if a test has ended the session. */
async function signIn(): Promise<Cookie> {
  const { name, value } = await (sharedCookie ??= newSession())
  const response = await fetch(`${server().url}/api/app/v1/session`, { headers: { Cookie: `${name}=${value}` } })
  if (!response.ok) sharedCookie = newSession()
  return sharedCookie
}

async function newSession(): Promise<Cookie> {
  const { url, email, password } = server()
  const response = await send('/api/app/v1/sign-in', {
    headers: { 'Content-Type': 'application/json', Origin: url },
    body: JSON.stringify({ email, password }),
  })
  expect(response.ok, await response.text()).toBeTruthy()
  const [name = '', value = ''] = response.headers.getSetCookie()[0]?.split(';')[0]?.split('=') ?? []
  return { name, value, url: url.replace('http:', 'https:'), secure: true }
}

/** Deletes the workspace of a test, because a person may own at most 50. The deletion needs a recent sign-in. */
async function removeWorkspace(id: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { name, value } = await (recentSession ??= newSession())
    const headers = { Origin: server().url, Cookie: `${name}=${value}` }
    const response = await send(`/api/app/v1/workspaces/${id}`, { method: 'DELETE', headers })
    // A status of 403 means that the sign-in is too old, or that a test has ended all sessions.
    if (attempt > 1 || ![401, 403].includes(response.status)) return
    recentSession = undefined
  }
}

async function makeWorld(page: Page, title: string): Promise<World> {
  const create = async (path: string, body: object) => (await callApi<{ id: string }>(page, 'POST', path, body)).id
  const post = (path: string, body: object) => create(`/public/v1${path}`, body)
  const workspaceName = title.slice(0, 60).trim()
  const workspaceId = await create('/app/v1/workspaces', { name: workspaceName })
  const boardId = await post('/boards', { workspaceId, name: 'Plan' })
  const lists: Record<string, string> = {}
  const cards: Record<string, string> = {}
  for (const [list, titles] of Object.entries({ 'To do': ['One', 'Two', 'Three'], Doing: ['Four'], Done: [] })) {
    lists[list] = await post(`/boards/${boardId}/lists`, { name: list })
    for (const card of titles) cards[card] = await post('/cards', { listId: lists[list], title: card })
  }
  return { workspaceId, workspaceName, boardId, lists, cards, post }
}

/** Creates a large board with one Trello import, and returns its ID. `cards` has the card titles of each list. */
export async function importBoard(page: Page, workspaceId: string, cards: Record<string, string[]>): Promise<string> {
  const id = (kind: string, n: number) => kind + n.toString(16).padStart(23, '0')
  const lists = Object.keys(cards).map((name, n) => ({ id: id('a', n), name, closed: false, pos: n + 1 }))
  const file = {
    id: id('b', 0),
    name: 'Large',
    lists,
    cards: Object.values(cards)
      .flatMap((titles, list) => titles.map((name) => ({ idList: id('a', list), name })))
      .map((card, n) => ({ ...card, id: id('c', n), idShort: n + 1, desc: '', closed: false, pos: n + 1 })),
  }
  const headers = {
    Origin: server().url,
    Cookie: await cookiesOf(page),
    'Content-Type': 'application/json',
    Accept: 'application/x-ndjson',
    'Idempotency-Key': randomUUID(),
  }
  const path = `/api/app/v1/workspaces/${workspaceId}/import?format=trello`
  const body = JSON.stringify(file)
  let boardId = ''
  // The server refuses the import while another one of this account is ending. It responds with lines
  // of progress, and with the report at the end.
  await expect(async () => {
    const response = await (await send(path, { headers, body })).text()
    const last = JSON.parse(response.trim().split('\n').at(-1)!) as { data?: { boards: { id: string }[] } }
    expect(last.data?.boards, response).toHaveLength(1)
    boardId = last.data!.boards[0]!.id
  }).toPass()
  return boardId
}

/** The pending requests of each page, without the live stream, which stays open. */
const pendingRequests = new WeakMap<Page, Set<Request>>()

/** Tracks the requests of a page, for `waitUntilSaved` and `waitUntilLoaded`. */
export function trackRequests(page: Page): void {
  const pending = new Set<Request>()
  pendingRequests.set(page, pending)
  page.on('request', (request) => request.resourceType() !== 'eventsource' && pending.add(request))
  page.on('requestfinished', (request) => pending.delete(request))
  page.on('requestfailed', (request) => pending.delete(request))
}

/** Waits until the page has all data that it has requested, and shows it. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  const pending = async () => {
    await nextFrames(page) // the page may send further requests when it shows a response
    return [...pendingRequests.get(page)!].map((request) => `${request.method()} ${request.url()}`)
  }
  await expect.poll(pending, { message: 'pending requests', intervals: [0, 50, 100, 200] }).toEqual([])
  await expect(page.locator('.skeleton')).toHaveCount(0)
}

/** Clicks Undo in the newest toast, or in the toast with the given text. */
export async function undo(page: Page, text = ''): Promise<void> {
  await page.locator('.toast').filter({ hasText: text }).last().getByRole('button', { name: 'Undo' }).click()
}

/** Waits until the server has all changes that were made on a page. */
export async function waitUntilSaved(page: Page): Promise<void> {
  const unsaved = async () => {
    await nextFrames(page) // the page sends what it has just queued
    // The page cancels this event while it has unsent changes.
    const queued = await page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
    return queued || [...pendingRequests.get(page)!].some((request) => request.method() !== 'GET')
  }
  await expect.poll(unsaved, { message: 'unsaved changes', intervals: [0, 50, 100, 200], timeout: 30_000 }).toBe(false)
}

/** Removes the focus from a control, so that letter keys act as shortcuts. */
export const leaveControl = (page: Page) => page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())

/** Waits until the page has painted its reaction to the last pointer movement. */
export async function nextFrames(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let n = 0; n < 5; n++) await new Promise(requestAnimationFrame)
  })
}

/**
 * Presses an Alt+Shift shortcut, and returns the texts of the elements that match a selector in the next frame that the
 * page paints. What they show then did not wait for a response or a timer.
 */
export function inNextFrame(page: Page, key: string, selector: string): Promise<string[]> {
  return page.evaluate(
    async ([key, selector]) => {
      const init = { key, altKey: true, shiftKey: true, bubbles: true, cancelable: true }
      document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', init))
      await new Promise(requestAnimationFrame)
      return [...document.querySelectorAll(selector)].map((node) => node.textContent.replace(/\s+/g, ' ').trim())
    },
    [key, selector] as const,
  )
}

/**
 * Makes the pauses of a page of a second and longer twenty times shorter: those before it loads data again, and those
 * before it repeats a failed request. Toasts disappear sooner, too. Call it before the page is opened.
 */
export async function shortenPauses(page: Page): Promise<void> {
  await page.addInitScript(() => {
    type SetTimer = (callback: () => void, ms?: number) => unknown
    const shorten =
      (set: SetTimer): SetTimer =>
      (callback, ms = 0) =>
        set(callback, ms < 1000 ? ms : ms / 20)
    Object.assign(globalThis, { setTimeout: shorten(setTimeout), setInterval: shorten(setInterval) })
  })
}

/** Holds the requests to a URL until the returned function is called. */
export async function hold(page: Page, url: string): Promise<() => void> {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route(url, async (route) => {
    await released
    await route.continue()
  })
  return release
}

/** Waits until a board's live stream is open. Call it before the page is opened. */
export async function waitForStream(page: Page, boardId: string): Promise<void> {
  await page.waitForResponse((response) => response.url().includes('/live?') && response.url().includes(boardId))
}

/** Returns the axe violations of the page in short form, for all rules or only the named ones. */
export async function axe(page: Page, only?: string[]): Promise<string[]> {
  await expect(page.locator('.old'), 'results that are about to be replaced, which are pale').toHaveCount(0)
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  return page.evaluate(async (only) => {
    // Wait for fade-ins to end, because they change the colors.
    const fadeIns = document.getAnimations().filter((a) => Number(a.effect?.getComputedTiming().endTime) <= 1000)
    await Promise.allSettled(fadeIns.map((animation) => animation.finished))
    const { axe } = globalThis as unknown as {
      axe: {
        run: (
          options: object,
        ) => Promise<{ violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] }>
      }
    }
    // The nodes that pass are not needed.
    const { violations } = await axe.run({ resultTypes: ['violations'], ...(only ? { runOnly: only } : {}) })
    return violations.flatMap((v) =>
      v.nodes.map((n) => `${v.id}: ${n.target.join(' ')} ${n.failureSummary.replace(/\s+/g, ' ').slice(0, 200)}`),
    )
  }, only)
}

/**
 * Checks a page for axe violations and horizontal scrolling, in light mode, in dark mode and on a phone. It takes about a
 * second, so a test that checks several states of a page may take more than five.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const desktop = page.viewportSize()!
  await waitUntilLoaded(page)
  for (const [colorScheme, size] of [
    ['light', desktop],
    ['dark', desktop],
    ['light', { width: 390, height: 844 }],
  ] as const) {
    await page.emulateMedia({ reducedMotion: 'reduce', colorScheme })
    await page.setViewportSize(size)
    expect(await axe(page), `${colorScheme}, ${size.width} wide`).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width)
  }
  await page.setViewportSize(desktop)
}

/** Returns the link with a secret in the email that the server sent to an address. */
export const secretLinkTo = (email: string): Promise<string> => linkInEmail(`<${email}>`, /https?:\/\/\S+#\w+/)

/** Waits until the server's outbox has an email that contains `needle`, and returns the matching link in it. */
export async function linkInEmail(needle: string, link: RegExp): Promise<string> {
  const { outbox } = server()
  if (!outbox) throw new Error('CARDWALL_E2E_OUTBOX is not set. Set it to the outbox folder of the server.')
  let found: string | undefined
  await expect
    .poll(
      () => {
        for (const name of existsSync(outbox) ? readdirSync(outbox) : []) {
          const message = readFileSync(join(outbox, name), 'utf8')
          if (message.includes(needle)) found = link.exec(message)?.[0] ?? found
        }
        return found
      },
      { message: 'an email with a link', intervals: [20, 50, 100], timeout: 20_000 },
    )
    .toBeTruthy()
  return found!
}

/** Presses Tab until an element has the focus. */
export async function tabTo(target: Locator): Promise<void> {
  const page = target.page()
  await target.waitFor({ state: 'attached' })
  for (let n = 0; n < 80; n++) {
    if (await target.evaluate((node) => node === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  await expect(target, 'control reached with Tab').toBeFocused({ timeout: 1 })
}

/** Returns the titles of a list's cards, from top to bottom. */
export async function titles(page: Page, list: string): Promise<string[]> {
  const texts = await page.getByRole('region', { name: list }).locator('[data-card] .title').allInnerTexts()
  return texts.map((t) => t.replace(/\s+/g, ' ').trim())
}

export { expect }
