// A session that ends while a person works: the page stays open, and continues after the next sign-in.
import type { Page } from '@playwright/test'
import { callApi, expect, waitUntilSaved, send, server, test } from './fixtures'
import { signUpPerson } from './person'

const comment = (page: Page) => page.getByRole('textbox', { name: 'Comment', exact: true })

/** Signs in the demo person in a separate session, and opens a card. */
async function openCard(page: Page, cardId: string): Promise<Page> {
  const { email, password } = server()
  await page.goto(`/sign-in?next=${encodeURIComponent(`/cards/${cardId}`)}`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await expect(comment(page)).toBeVisible()
  return page
}

/** Sends a request with the browser's cookies, without the page's client. */
const sendOutsideClient = (page: Page, path: string, body: object) =>
  page.evaluate(
    async ([path, body]) => {
      const headers = { 'Content-Type': 'application/json' }
      const response = await fetch(`/api/app/v1${path}`, { method: 'POST', headers, body })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
    },
    [path, JSON.stringify(body)] as const,
  )

test('a comment sent after the session has ended arrives exactly once, after the next sign-in', async ({
  page: other,
  world,
  newSignedOutPage,
}) => {
  const cardId = world.cards.One!
  const page = await openCard(await newSignedOutPage(), cardId)
  const keys: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/comments'))
      keys.push(request.headers()['idempotency-key'])
  })
  await sendOutsideClient(page, '/sign-out', {})
  await comment(page).fill('Do not lose me')
  await page.keyboard.press('Control+Enter')
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await expect(dialog).toBeVisible()
  expect(page.url()).toContain(`/cards/${cardId}`)

  await dialog.getByLabel(/^Password/).fill('not this one')
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('alert')).toContainText('password')
  await dialog.getByLabel(/^Password/).fill(server().password)
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('article').getByText('Do not lose me')).toBeVisible()
  await waitUntilSaved(page)
  expect(keys.length).toBeGreaterThan(1)
  expect(new Set(keys).size).toBe(1)
  const path = `/public/v1/cards/${cardId}/comments`
  expect((await callApi<{ text: string }[]>(other, 'GET', path)).map((c) => c.text)).toEqual(['Do not lose me'])

  // The live stream is open again.
  await world.post(`/cards/${cardId}/comments`, { text: 'Live again' })
  await expect(page.getByRole('article').getByText('Live again')).toBeVisible({ timeout: 20_000 })
})

test('another account gets neither the drafts nor the changes of the first', async ({
  page: other,
  world,
  newSignedOutPage,
  browser,
}) => {
  const cardId = world.cards.One!
  const grace = await signUpPerson(browser, world)
  const email = `${grace.name.toLowerCase().replace(' ', '.')}@example.com`
  const page = await openCard(await newSignedOutPage(), cardId)
  await sendOutsideClient(page, '/sign-in', { email, password: 'correct horse battery' })
  await comment(page).fill('Draft of the first person')
  await page.keyboard.press('Control+Enter')
  const dialog = page.getByRole('dialog', { name: 'Another account is signed in' })
  await expect(dialog).toContainText(email)
  await expect(dialog).toContainText(server().email)
  page.on('dialog', (prompt) => void prompt.accept())
  await dialog.getByRole('button', { name: `Continue as ${grace.name}` }).click()
  await expect(page).toHaveURL('/')
  await page.goto(`/cards/${cardId}`)
  await expect(comment(page)).toHaveValue('')
  expect(await callApi<unknown[]>(other, 'GET', `/public/v1/cards/${cardId}/comments`)).toEqual([])

  // The first person still has the draft.
  const response = await send('/api/app/v1/sign-in', {
    headers: { 'Content-Type': 'application/json', Origin: server().url },
    body: JSON.stringify({ email: server().email, password: server().password }),
  })
  const [name = '', value = ''] = response.headers.getSetCookie()[0]?.split(';')[0]?.split('=') ?? []
  await page.context().addCookies([{ name, value, url: server().url.replace('http:', 'https:'), secure: true }])
  await page.goto(`/cards/${cardId}`)
  await expect(comment(page)).toHaveValue('Draft of the first person')
  await grace.close()
})
