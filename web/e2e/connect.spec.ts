import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type Page } from '@playwright/test'
import { axe, callApi, expect, secretLinkTo, send, server, test as base } from './fixtures'

/** An OAuth client that listens for the browser's redirect. */
type OAuthClient = {
  id: string
  /** Returns the path and query of an authorization request. */
  authorizationUrl: (overrides?: Record<string, string>) => string
  /** Returns the parameters of the redirect; undefined before it arrives. */
  redirectParams: () => URLSearchParams | undefined
  /** Exchanges the returned code for tokens. */
  redeem: () => Promise<{ access_token: string; refresh_token: string; scope: string }>
}

base.describe.configure({ timeout: 90_000 }) // axe checks each page twice

const test = base.extend<{ client: OAuthClient; name: string }>({
  name: async ({}, use) => use(`Assistant ${randomBytes(3).toString('hex')}`),
  client: async ({ name }, use) => {
    let received: URLSearchParams | undefined
    const listener = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1')
      if (url.pathname === '/callback') received = url.searchParams
      response.setHeader('Content-Type', 'text/html')
      response.end('<!doctype html><html lang="en"><title>Back</title><link rel="icon" href="data:,"><h1>Back</h1>')
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', () => resolve()))
    const { port } = listener.address() as { port: number }
    const redirect = `http://127.0.0.1:${port}/callback`
    const verifier = randomBytes(32).toString('base64url')
    const id = await register(name, ['http://127.0.0.1/callback'])
    await use({
      id,
      authorizationUrl: (overrides = {}) =>
        `/oauth/authorize?${new URLSearchParams({
          response_type: 'code',
          client_id: id,
          redirect_uri: redirect,
          state: 'client state',
          scope: 'read write',
          code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
          ...overrides,
        })}`,
      redirectParams: () => received,
      redeem: async () => {
        const code = received?.get('code') ?? ''
        const form = { grant_type: 'authorization_code', client_id: id, code, code_verifier: verifier }
        const response = await post('/oauth/token', { ...form, redirect_uri: redirect })
        expect(response.status, JSON.stringify(response.body)).toBe(200)
        return response.body as { access_token: string; refresh_token: string; scope: string }
      },
    })
    await new Promise((resolve) => listener.close(resolve))
  },
})

async function register(name: string, redirects: string[]): Promise<string> {
  const grants = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code']
  const response = await send('/oauth/register', {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: name, redirect_uris: redirects, grant_types: grants }),
  })
  return ((await response.json()) as { client_id: string }).client_id
}

async function post(path: string, form: Record<string, string>) {
  const response = await send(path, { body: new URLSearchParams(form) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Calls a tool as an assistant does. */
async function callTool(token: string, name: string, input: object): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: 'application/json' }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
  const response = await send('/mcp', { headers, body: JSON.stringify(message) })
  const { result } = (await response.json()) as { result?: { isError?: boolean } }
  expect(result && !result.isError, `${name}: ${JSON.stringify(result)}`).toBe(true)
}

const meStatus = async (token: string) =>
  (await fetch(`${server().url}/api/public/v1/me`, { headers: { Authorization: `Bearer ${token}` } })).status

/** Checks that there are no axe violations, in light and in dark mode. */
async function expectAccessible(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect(await axe(page)).toEqual([])
  }
}

test('a client is authorized by mouse, for one workspace', async ({ page, client, name, world }) => {
  await page.goto(client.authorizationUrl())
  await expect(page.getByRole('heading', { name: `Connect ${name}?` })).toBeVisible()
  await expect(page.getByRole('main')).toContainText('127.0.0.1')
  await expect(page.getByRole('checkbox', { name: /^Read/ })).toBeDisabled()
  await expect(page.getByRole('checkbox', { name: /^Administer/ })).toHaveCount(0)
  await expectAccessible(page)
  await page.getByLabel('Workspaces').selectOption(world.workspaceId)
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()
  expect(client.redirectParams()?.get('state')).toBe('client state')
  expect(client.redirectParams()?.get('iss')).toBe(server().url)
  const { access_token, scope } = await client.redeem()
  expect(scope).toBe('read write')
  expect(await meStatus(access_token)).toBe(200)

  await page.goto('/profile/apps')
  const row = page.getByRole('listitem').filter({ hasText: name })
  await expect(row).toContainText('Read and write')
  await expect(row).not.toContainText('All workspaces')
  await expectAccessible(page)
  await row.getByRole('button', { name: `Disconnect ${name}` }).click()
  await expectAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await expect(row).toHaveCount(0)
  await expect.poll(() => meStatus(access_token)).toBe(401)
})

test('a program that supports only local servers connects through mcp-remote', async ({ page, name, world }, info) => {
  const env = { PATH: process.env.PATH, HOME: info.outputPath('home'), BROWSER: 'false', DISPLAY: '' }
  const program = spawn(process.execPath, ['../tools/mcp/remote.mjs', `${server().url}/mcp`, name], { env })
  const [ended, output] = [once(program, 'exit'), { out: '', all: '' }]
  program.stdout.on('data', (text: Buffer) => (output.out += text.toString()))
  for (const stream of [program.stdout, program.stderr])
    stream.on('data', (text: Buffer) => (output.all += text.toString()))
  try {
    const address = /https?:\/\/\S+\/oauth\/authorize\?\S+/
    await expect.poll(() => output.all, { timeout: 30_000 }).toMatch(address)
    await page.goto(address.exec(output.all)![0])
    await expect(page.getByRole('heading', { name: /^Connect .+\?$/ })).toBeVisible()
    await page.getByLabel('Workspaces').selectOption(world.workspaceId)
    await page.getByRole('button', { name: 'Allow' }).click()
    await expect(page.getByText(/successful/i)).toBeVisible()
    expect((await ended)[0], output.all).toBe(0)
  } finally {
    program.kill()
  }
  const { card } = JSON.parse(output.out.trim().split('\n').at(-1)!) as { card: string }
  await page.goto(`/cards/${card}`)
  await expect(page.getByRole('dialog')).toContainText(name)
})

test('a client is authorized and disconnected by keyboard', async ({ page, client }) => {
  const tabTo = async (name: RegExp) => {
    for (let i = 0; i < 30; i++) {
      const focused = page.locator(':focus')
      const text = (await focused.count())
        ? await focused.evaluate((e) => (e.closest('label') ?? (e as HTMLElement)).innerText)
        : ''
      if (name.test(text)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not reach ${name}`)
  }
  await page.goto(client.authorizationUrl())
  await expect(page.getByRole('button', { name: 'Allow' })).toBeVisible()
  await tabTo(/^Write/)
  await page.keyboard.press('Space')
  await expect(page.getByRole('checkbox', { name: /^Write/ })).not.toBeChecked()
  await tabTo(/^Allow/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()
  expect((await client.redeem()).scope).toBe('read')

  await page.goto(client.authorizationUrl())
  await expect(page.getByRole('button', { name: 'Allow' })).toBeVisible()
  await tabTo(/^Cancel/)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()
  expect(client.redirectParams()?.get('error')).toBe('access_denied')
  expect(client.redirectParams()?.get('code')).toBeNull()
})

test('what an app did is undone and made again, except what was changed since', async ({
  page,
  client,
  name,
  world,
}) => {
  await page.goto(client.authorizationUrl())
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()
  const { access_token } = await client.redeem()
  await page.goto('/profile/apps')
  const [first, second] = Object.values(world.cards) as [string, string]
  const rename = async (card: string, title: string) => {
    const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ title })
    const response = await send(`/api/public/v1/cards/${card}`, { method: 'PATCH', headers, body })
    expect(response.status, await response.text()).toBe(200)
  }
  const titleOf = async (card: string) =>
    (await callApi<{ title: string }>(page, 'GET', `/public/v1/cards/${card}`)).title
  const former = await titleOf(first)
  await rename(first, 'Renamed <b>once</b>')
  await rename(second, 'Renamed, too')
  await callApi(page, 'PATCH', `/public/v1/cards/${second}`, { title: 'By a person' })

  const row = page.getByRole('listitem').filter({ hasText: name })
  await row.getByRole('button', { name: `Undo changes by ${name}` }).click()
  const dialog = page.getByRole('dialog', { name: `Undo what ${name} did` })
  await expect(dialog).toContainText('2 changes, the last just now')
  await dialog.getByText('Show changes').click()
  await expect(dialog).toContainText('changed the card Renamed <b>once</b>')
  await expectAccessible(page)
  await dialog.getByRole('checkbox').uncheck()
  await expect(dialog.getByRole('button', { name: 'Undo', exact: true })).toBeDisabled()
  await dialog.getByRole('checkbox').check()
  await dialog.getByRole('button', { name: 'Undo 2 changes' }).click()
  await expect(dialog.getByRole('status').first()).toHaveText('1 change was undone.')
  await expect(dialog.getByRole('status').first()).toBeFocused()
  await expect(dialog).toContainText('1 change was kept:')
  await expect(dialog).toContainText('changed the title of the card since. Open card')
  await expectAccessible(page)
  expect(await titleOf(first)).toBe(former)
  expect(await titleOf(second)).toBe('By a person')
  await dialog.getByRole('button', { name: 'Redo' }).click()
  await expect(dialog).toContainText('1 change was made again.')
  await expect(dialog.getByRole('button', { name: 'Redo' })).toHaveCount(0)
  expect(await titleOf(first)).toBe('Renamed <b>once</b>')
  await dialog.getByRole('button', { name: 'Done' }).click()

  await row.getByRole('button', { name: `Disconnect ${name}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await page.getByRole('button', { name: 'Undo its changes' }).click()
  await dialog.getByRole('button', { name: 'Undo 2 changes' }).click()
  await expect(dialog).toContainText('1 change was undone.')
  expect(await titleOf(first)).toBe(former)
})

test('undo shows that an app changed nothing, or that its changes couldn’t be loaded', async ({
  page,
  client,
  name,
}) => {
  await page.goto(client.authorizationUrl())
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()
  await client.redeem()
  await page.goto('/profile/apps')
  await page.getByRole('button', { name: `Undo changes by ${name}` }).press('Enter')
  const dialog = page.getByRole('dialog', { name: `Undo what ${name} did` })
  await expect(dialog.getByLabel('Changes made in')).toBeFocused()
  await expect(dialog).toContainText(`${name} changed nothing on your boards in this time.`)
  const error = { code: 'internal', message: 'Something went wrong on the server.' }
  await page.route('**/api/public/v1/my-changes**', (route) => route.fulfill({ status: 500, json: { error } }))
  await dialog.getByLabel('Changes made in').selectOption('month')
  await expect(dialog).toContainText(error.message)
  await page.unroute('**/api/public/v1/my-changes**')
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await expect(dialog).toContainText('changed nothing on your boards in this time.')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
})

test('a sign-in that is not recent must be confirmed first', async ({ page, client }) => {
  let rejected = false
  await page.route('**/api/app/v1/connect/authorization/allow', (route) => {
    if (rejected) return route.fallback()
    rejected = true
    const message = 'Sign in again. This requires a sign-in within the last ten minutes.'
    const reason = 'recent_sign_in_required'
    return route.fulfill({ status: 403, json: { error: { code: 'forbidden', message, reason } } })
  })
  await page.goto(client.authorizationUrl())
  await page.getByRole('button', { name: 'Allow' }).click()
  const confirm = page.getByRole('dialog', { name: 'Confirm it’s you' })
  await expect(confirm).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(confirm).toHaveCount(0)
  expect(client.redirectParams()).toBeUndefined()
  rejected = false
  await page.getByRole('button', { name: 'Allow' }).click()
  await confirm.getByLabel(/^Password for/).fill(server().password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()
})

test('an invalid request shows an error page and does not redirect', async ({ page, client }) => {
  const response = await page.goto(client.authorizationUrl({ redirect_uri: 'https://evil.example/callback' }))
  expect(response?.status()).toBe(400)
  expect(response?.headers()['content-security-policy']).toContain("frame-ancestors 'none'")
  await expect(page.getByRole('heading', { name: 'This app can’t be connected' })).toBeVisible()
  await expect(page.getByRole('main')).toContainText('redirect_uri')
  await expectAccessible(page)
})

test('the consent page cannot be framed by another page', async ({ page, client }) => {
  const inner = new URL(client.authorizationUrl(), server().url).href
  const outer = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<!doctype html><title>Outer</title><link rel="icon" href="data:,"><iframe src="${inner}"></iframe>`)
  })
  await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', () => resolve()))
  const framePage = await page.context().browser()!.newPage()
  await framePage.goto(`http://127.0.0.1:${(outer.address() as { port: number }).port}/`)
  await expect(framePage.frameLocator('iframe').getByRole('button', { name: 'Allow' })).toHaveCount(0)
  expect(framePage.frames()[1]?.url()).toContain('chrome-error://')
  await framePage.close()
  await new Promise((resolve) => outer.close(resolve))
})

test('a device is connected by its code', async ({ page, client, name }) => {
  const device = (await post('/oauth/device_authorization', { client_id: client.id })).body
  const grant = {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: client.id,
    device_code: String(device.device_code),
  }
  await page.goto('/oauth/device')
  await expectAccessible(page)
  await page.keyboard.type('bbbbbbbb')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alert')).toContainText('was already used')
  await page.getByLabel('Code').fill('')
  await page.keyboard.type(String(device.user_code).toLowerCase().replace('-', ''))
  await expect(page.getByLabel('Code')).toHaveValue(String(device.user_code))
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: `Connect ${name}?` })).toBeVisible()
  await expect(page.getByRole('main')).toContainText(String(device.user_code))
  // The client requested no scopes, so none but the least is selected.
  await expect(page.getByRole('checkbox', { name: /^Read/ })).toBeChecked()
  await expect(page.getByRole('checkbox', { name: /^Administer/ })).not.toBeChecked()
  await expect(page.getByRole('checkbox', { name: /^Write/ })).not.toBeChecked()
  await page.getByRole('checkbox', { name: /^Write/ }).check()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect(page.getByRole('heading', { name: `${name} is connected` })).toBeVisible()
  await expectAccessible(page)
  const tokens = await post('/oauth/token', grant)
  expect(tokens.body.scope).toBe('read write')

  const second = (await post('/oauth/device_authorization', { client_id: client.id })).body
  await page.goto(`/oauth/device?user_code=${String(second.user_code)}`)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('heading', { name: 'No access was granted' })).toBeVisible()
  const denied = await post('/oauth/token', { ...grant, device_code: String(second.device_code) })
  expect(denied.body.error).toBe('access_denied')
})

test('the admin scope is not selected by default', async ({ page, client }) => {
  await page.goto(client.authorizationUrl({ scope: 'read write admin' }))
  await expect(page.getByRole('checkbox', { name: /^Write/ })).toBeChecked()
  await expect(page.getByRole('checkbox', { name: /^Administer/ })).not.toBeChecked()
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()
  expect((await client.redeem()).scope).toBe('read write')

  await page.goto(client.authorizationUrl({ scope: 'read write admin' }))
  await page.getByRole('checkbox', { name: /^Administer/ }).check()
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()
  expect((await client.redeem()).scope).toBe('read write admin')
})

test.describe('on a phone', () => {
  test.use({ viewport: { width: 360, height: 640 } })
  test('the consent page fits the screen', async ({ page, client }) => {
    await page.goto(client.authorizationUrl({ scope: 'read write admin' }))
    await expect(page.getByRole('button', { name: 'Allow' })).toBeVisible()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await expectAccessible(page)
  })
})

test.describe('a new person', () => {
  test.use({ signedIn: false })

  test('sees the error of an invalid request without a sign-in or redirect', async ({ page, client }) => {
    const response = await page.goto(client.authorizationUrl({ response_type: 'nonsense' }))
    expect(response?.status()).toBe(400)
    await expect(page.getByRole('heading', { name: 'This app can’t be connected' })).toBeVisible()
    await expect(page.getByRole('main')).toContainText('response_type must be code')
    expect(client.redirectParams()).toBeUndefined()
    await expectAccessible(page)
  })

  test('signs up, returns to the consent page, and gets a first card from the assistant', async ({
    page,
    client,
    name,
  }) => {
    const email = `${randomBytes(4).toString('hex')}@example.com`
    await page.goto(client.authorizationUrl())
    await expect(page.getByRole('heading', { name: 'Sign in to Cardwall' })).toBeVisible()
    await expect(page.getByRole('main')).toContainText('Next, you’ll choose what the app can access')
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Create an account' }).click()
    await page.getByLabel('Your name').fill('Grace Hopper')
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill('correct horse battery')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
    await page.goto(await secretLinkTo(email))
    await page.getByRole('button', { name: 'Confirm my address' }).click()
    await expect(page.getByRole('heading', { name: 'Name your workspace' })).toBeVisible()
    await expect(page.getByRole('main')).toContainText(name)
    await expect(page.getByLabel('Name')).toHaveValue('Grace’s workspace')
    await expectAccessible(page)
    await page.getByLabel('Name').fill('Compilers')
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await expect(page.getByRole('heading', { name: `Connect ${name}?` })).toBeVisible()
    await expect(page.getByLabel('Workspaces')).toContainText('Only Compilers')
    await expect(page.getByRole('main')).toContainText(email)
    await page.getByRole('button', { name: 'Allow' }).click()
    await expect(page.getByRole('heading', { name: 'Back' })).toBeVisible()

    const { access_token } = await client.redeem()
    await callTool(access_token, 'create_board', { workspaceId: 'Compilers', name: 'A-0' })
    await callTool(access_token, 'create_list', { boardId: 'A-0', name: 'To do' })
    await callTool(access_token, 'create_card', { listId: 'A-0 / To do', title: 'Link the subroutines' })
    await page.goto('/')
    await page.getByRole('main').getByRole('link', { name: 'A-0' }).click()
    await page.getByText('Link the subroutines').click()
    await expect(page.getByRole('dialog')).toContainText(`Grace Hopper via ${name}`)
  })

  test('signs in and returns, and can use another account', async ({ page, client, name }) => {
    const { email, password } = server()
    await page.goto(client.authorizationUrl())
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { name: `Connect ${name}?` })).toBeVisible()
    await page.getByRole('button', { name: 'Use another account' }).click()
    await expect(page).toHaveURL(/\/sign-in\?next=%2Foauth%2Fauthorize/)
  })
})
