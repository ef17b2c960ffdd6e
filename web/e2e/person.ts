// A second person: invited to the test's workspace, signed up by the letter's
// link, in a browser of their own.
import { expect, type Browser, type Page } from '@playwright/test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { server, type World } from './fixtures'

export type Person = { id: string; name: string; page: Page; close: () => Promise<void> }

export async function another(browser: Browser, world: World, role = 'member'): Promise<Person> {
  const { url } = server()
  const name = `Grace ${crypto.randomUUID().slice(0, 6)}`
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`
  await world.post(`/workspaces/${world.workspaceId}/invitations`, { email, role })
  const send = (path: string, body: object) =>
    fetch(`${url}/api/app/v1${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID(), Origin: url },
      body: JSON.stringify(body),
    })
  await send('/sign-up', { email, name, password: 'correct horse battery', timeZone: 'Europe/Berlin' })
  const answer = await send('/verify-email', { secret: await secretOf(email) })
  expect(answer.ok, await answer.clone().text()).toBeTruthy()
  const { user } = ((await answer.json()) as { data: { user: { id: string } } }).data
  const [cookie = '', value = ''] = answer.headers.getSetCookie()[0]?.split(';')[0]?.split('=') ?? []
  const context = await browser.newContext({ baseURL: url })
  await context.addCookies([{ name: cookie, value, url: url.replace('http:', 'https:'), secure: true }])
  return { id: user.id, name, page: await context.newPage(), close: () => context.close() }
}

/** The secret of the link that verifies an address, from the folder where the server puts letters. */
async function secretOf(email: string): Promise<string> {
  const outbox = process.env.CARDWALL_E2E_OUTBOX ?? ''
  let secret: string | undefined
  await expect
    .poll(() => {
      for (const file of existsSync(outbox) ? readdirSync(outbox) : []) {
        const letter = readFileSync(join(outbox, file), 'utf8')
        if (!letter.includes(email)) continue
        // The body is quoted-printable: a line that ends in = goes on.
        secret ??= /\/verify#(\w+)/.exec(letter.replace(/=\r?\n/g, ''))?.[1]
      }
      return secret
    }, 'the letter that verifies the address')
    .toBeTruthy()
  return secret!
}
