// A second person in a separate browser context.
import { expect, type Browser, type Page } from '@playwright/test'
import { trackRequests, linkInEmail, send, server, type World } from './fixtures'

export type Person = { id: string; name: string; page: Page; close: () => Promise<void> }

/** Invites a person to the test's workspace and signs them up through the link in the email. */
export async function signUpPerson(browser: Browser, world: World, role = 'member'): Promise<Person> {
  const { url } = server()
  const name = `Grace ${crypto.randomUUID().slice(0, 6)}`
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`
  await world.post(`/workspaces/${world.workspaceId}/invitations`, { email, role })
  const post = (path: string, body: object) =>
    send(`/api/app/v1${path}`, {
      headers: { 'Content-Type': 'application/json', Origin: url },
      body: JSON.stringify(body),
    })
  await post('/sign-up', { email, name, password: 'correct horse battery', timeZone: 'Europe/Berlin' })
  const response = await post('/verify-email', {
    secret: (await linkInEmail(`<${email}>`, /\/verify#\w+/)).split('#')[1],
  })
  expect(response.ok, await response.clone().text()).toBeTruthy()
  const { user } = ((await response.json()) as { data: { user: { id: string } } }).data
  const [cookie = '', value = ''] = response.headers.getSetCookie()[0]?.split(';')[0]?.split('=') ?? []
  const context = await browser.newContext({ baseURL: url })
  await context.addCookies([{ name: cookie, value, url: url.replace('http:', 'https:'), secure: true }])
  const page = await context.newPage()
  trackRequests(page)
  return { id: user.id, name, page, close: () => context.close() }
}
