// Pages keep working while the server is down, and send each change exactly once. Tests that start servers of their own
// take more than five seconds.
import type { Page } from '@playwright/test'
import { callApi, expect, shortenPauses, waitUntilSaved, test, titles } from './fixtures'
import { freePort, makeTempFolder, startDemoServer, type RunningServer } from './serverProcess'

/** Returns the event kinds of a board's activity, oldest first. */
async function activityKinds(page: Page, boardId: string): Promise<string[]> {
  const path = `/public/v1/boards/${boardId}/changes?since=0&limit=200`
  return (await callApi<{ type: string }[]>(page, 'GET', path)).map((entry) => entry.type)
}

/** A server with data of its own. After it was killed, it starts on the same port with the same data. */
class OwnServer {
  running!: RunningServer
  readonly #data = makeTempFolder()
  #port = 0

  async start(): Promise<void> {
    this.#port ||= await freePort()
    this.running = await startDemoServer(this.#data.folder, this.#port)
  }
  kill(): Promise<void> {
    return this.running.stop('SIGKILL')
  }
  async remove(): Promise<void> {
    await this.kill()
    this.#data.remove()
  }
}

/** A test with a server of its own, whose first board it opens signed in. */
const withServer = test.extend<{ server: OwnServer; serverPage: Page }>({
  server: async ({}, use) => {
    const server = new OwnServer()
    await server.start()
    await use(server)
    await server.remove()
  },
  serverPage: async ({ newSignedOutPage, server }, use) => {
    const { url, email, password } = server.running
    const page = await newSignedOutPage({ baseURL: url })
    await shortenPauses(page)
    await page.goto('/sign-in')
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('main').locator('a[href^="/boards/"]').first().click()
    await expect(page.locator('[data-card]').first()).toBeVisible()
    await use(page)
  },
})

withServer.describe('a separate server', () => {
  withServer.use({ signedIn: false })
  withServer.describe.configure({ timeout: 180_000 })

  withServer(
    'a restarted server gets every change made during its outage exactly once',
    async ({ serverPage: page, server }) => {
      const boardId = new URL(page.url()).pathname.split('/').at(-1)!
      const list = (await page.locator('[data-list]').nth(1).getAttribute('aria-label'))!
      const before = await activityKinds(page, boardId)

      await server.kill()
      await expect(page.getByText('Can’t reach the server.')).toBeVisible({ timeout: 15_000 })
      await page.keyboard.press('j')
      await page.keyboard.press('Alt+Shift+ArrowRight')
      await page.keyboard.press('c')
      await page.keyboard.type('Made during the outage')
      await page.keyboard.press('Enter')
      await expect(page.getByText('2 changes are waiting to be saved')).toBeVisible()
      await expect.poll(() => titles(page, list)).toContain('Made during the outage')
      const shown = await titles(page, list)

      await server.start()
      await expect(page.getByText('Can’t reach the server.')).toBeHidden({ timeout: 30_000 })
      expect(await titles(page, list)).toEqual(shown)
      await waitUntilSaved(page)
      expect((await activityKinds(page, boardId)).slice(before.length)).toEqual(['card.moved', 'card.created'])
      await page.reload()
      await expect.poll(() => titles(page, list)).toEqual(shown)
    },
  )

  withServer(
    'My cards shows a change that was made before it found the restarted server',
    async ({ serverPage: page, server }) => {
      await page.goto('/my-cards')
      const card = page.locator('a[data-card]').first()
      const id = (await card.getAttribute('data-card'))!
      const rename = (title: string) => callApi(page, 'PATCH', `/public/v1/cards/${id}`, { title })
      // Change the card until the page follows, which shows that the live stream is open.
      await expect(async () => {
        await rename(`Before ${Date.now()}`)
        await expect(page.getByText('Before')).toBeVisible({ timeout: 1000 })
      }).toPass()

      await page.route('**/live?*', (route) => route.abort())
      await server.kill()
      await server.start()
      await rename('Meanwhile')
      await page.unroute('**/live?*')
      await expect(page.getByText('Meanwhile')).toBeVisible({ timeout: 30_000 })
    },
  )

  withServer('an upload continues with what a killed server had stored', async ({ serverPage: page, server }) => {
    await page.locator('[data-card] a').first().click()
    const attachments = page.getByRole('region', { name: 'Attachments' })
    const offsets: number[] = []
    page.on('request', (r) => {
      if (r.method() === 'PATCH' && r.url().includes('/uploads/')) offsets.push(Number(r.headers()['upload-offset']))
    })
    const network = await page.context().newCDPSession(page)
    await network.send('Network.enable')
    const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 3_000_000 }
    await network.send('Network.emulateNetworkConditions', conditions)
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Attach', exact: true }).click()
    await page.getByRole('menuitem', { name: 'File…' }).click()
    await (
      await chooser
    ).setFiles([{ name: 'Film.txt', mimeType: 'text/plain', buffer: Buffer.alloc(20_000_000, 'x') }])
    await expect(attachments.getByRole('progressbar')).toHaveAttribute('value', /^0\.[5-7]/, { timeout: 30_000 })
    await server.kill()
    await expect(attachments).toContainText('Trying again…')
    await server.start()
    await expect(attachments.getByRole('link', { name: 'Film.txt' })).toBeVisible({ timeout: 60_000 })
    expect(offsets.at(0)).toBe(0)
    expect(offsets.at(-1), 'the server had stored one part of 8 MiB').toBe(8 * 1024 * 1024)
  })

  withServer(
    'a page and a card that could not load open by themselves when the server is back',
    async ({ serverPage: page, server }) => {
      await server.kill()
      await page.locator('[data-card] a').first().click()
      await expect(page.getByText('The card will open when the connection is restored.')).toBeVisible({
        timeout: 15_000,
      })
      await server.start()
      await expect(page.getByRole('dialog').getByRole('heading', { name: 'Description', exact: true })).toBeVisible({
        timeout: 40_000,
      })

      await page.keyboard.press('Escape')
      await server.kill()
      await page.getByRole('link', { name: 'My cards' }).first().click()
      await expect(page.getByText('Can’t reach the server.').first()).toBeVisible({ timeout: 15_000 })
      await expect(page.getByText('This page couldn’t be loaded')).toBeHidden()
      await server.start()
      await expect(page.getByRole('heading', { name: 'My cards' }).first()).toBeVisible({ timeout: 40_000 })
      await expect(page.getByText('Can’t reach the server.')).toBeHidden({ timeout: 30_000 })
    },
  )
})

test('a page of an outdated version reloads by itself', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Three', { exact: true })).toBeVisible()
  // After an upgrade of the server, the files of the old version no longer exist.
  await page.route('**/assets/**', (route) => route.fulfill({ status: 404, body: 'There is no such file.' }))
  await page.route(
    (url) => url.pathname === '/',
    async (route) => {
      await page.unroute('**/assets/**')
      await route.fulfill({
        contentType: 'text/html',
        body: '<script type="module" src="/assets/index-new.js"></script>',
      })
    },
  )
  await page.getByRole('link', { name: `Members of ${world.workspaceName}` }).click()
  await page.waitForEvent('load')
  await expect(page.getByRole('heading', { name: 'Members' }).first()).toBeVisible()
})

test('a change whose response was lost is not made twice', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Three', { exact: true })).toBeVisible()
  const before = await activityKinds(page, world.boardId)
  const keys: (string | undefined)[] = []
  await page.route('**/api/public/v1/cards', async (route) => {
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length > 1) return route.continue()
    await route.fetch() // the server makes the change, but
    return route.abort('connectionreset') // the response is lost
  })
  await page.keyboard.press('c')
  await page.keyboard.type('Once')
  await page.keyboard.press('Enter')
  await expect.poll(() => keys.length).toBe(2)
  await expect(page.getByText('Once', { exact: true })).toBeVisible()
  await expect(page.getByText('Can’t reach the server.')).toBeHidden() // with several servers, another one may respond
  expect(keys[0]).toBe(keys[1])
  expect((await activityKinds(page, world.boardId)).slice(before.length)).toEqual(['card.created'])
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two', 'Three', 'Once'])
  await page.reload()
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two', 'Three', 'Once'])
})

test('an interrupted chunk of the application is loaded again, with its style sheet', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Three', { exact: true })).toBeVisible()
  const interrupted: string[] = []
  await page.route('**/assets/**', (route) => {
    const kind = route.request().url().split('.').at(-1)!
    if (interrupted.includes(kind)) return route.continue()
    interrupted.push(kind)
    return route.abort('connectionreset')
  })
  await page.getByRole('link', { name: `Members of ${world.workspaceName}` }).click()
  await expect(page.getByRole('heading', { name: 'Members' }).first()).toBeVisible()
  expect(interrupted.toSorted()).toEqual(['css', 'js'])
  const unloaded = await page.evaluate(
    () =>
      [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')].filter((link) => !link.sheet).length,
  )
  expect(unloaded, 'style sheets that did not load').toBe(0)
})
