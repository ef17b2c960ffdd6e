// The first steps of a new person, from sign-up to a script with a token: once with the mouse, and
// once by keyboard only. The README describes the same steps. Each takes more than five seconds, because a person does
// all of it in one visit.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from '@playwright/test'
import { axe, expect, secretLinkTo, waitForStream, tabTo, test, titles } from './fixtures'

// A real Trello export.
const trelloExport = join('..', 'internal', 'transfer', 'testdata', 'trello-export-project100.json')
const password = 'correct horse battery'

test.use({ signedIn: false })
test.setTimeout(120_000)

async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  expect(await axe(page)).toEqual([])
}

/** Runs a shell command, and returns its output. */
async function runShell(line: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-c', line])).stdout
}

/** Opens a board as the same person in another browser. Returns a list that collects the page's polling requests. */
async function signInElsewhere(page: Page, email: string, url: string): Promise<string[]> {
  const stream = waitForStream(page, new URL(url).pathname.split('/').at(-1)!)
  await page.goto(url)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Todo' })).toBeVisible()
  await stream
  const polls: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/changes?')) polls.push(request.url())
  })
  return polls
}

/** Checks that updates came through the stream, not by polling. Killed servers (e2e/nodes.ts) interrupt the stream. */
function expectNoPolling(polls: string[]): void {
  if (!process.env.CARDWALL_NODES) expect(polls).toEqual([])
}

test('a new person imports a board, works on it, and connects a script', async ({ page, newSignedOutPage }) => {
  const email = `ada.${crypto.randomUUID().slice(0, 8)}@example.com`

  await page.goto('/')
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('Your name').fill('Ada Lovelace')
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
  await page.goto(await secretLinkTo(email))
  await page.getByRole('button', { name: 'Confirm my address' }).click()

  await page.getByRole('button', { name: 'New workspace' }).click()
  await page.getByLabel('Name').fill('Analytical Engines')
  await page.getByRole('button', { name: 'Create workspace' }).click()
  await expect(page.getByText('Create your first board')).toBeVisible()
  await expectAccessible(page)

  await page.getByRole('link', { name: 'Members', exact: true }).click()
  await page.getByRole('main').getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Import and export' }).click()
  await page.locator('input[type=file]').setInputFiles(trelloExport)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const report = page.getByRole('region', { name: 'Board imported' })
  await expect(report).toContainText('3 lists, 3 cards and 6 labels')
  await expectAccessible(page)
  await report.getByRole('link', { name: 'Open board' }).click()
  await expect.poll(() => titles(page, 'Todo')).toEqual(['Write code', 'Review code'])

  const other = await newSignedOutPage()
  const polls = await signInElsewhere(other, email, page.url())

  const card = (await page.getByText('Write code', { exact: true }).boundingBox())!
  const to = (await page.getByRole('region', { name: 'Done' }).boundingBox())!
  await page.mouse.move(card.x + 10, card.y + 5)
  await page.mouse.down()
  await page.mouse.move(card.x + 60, card.y + 20, { steps: 4 })
  await page.mouse.move(to.x + 60, to.y + to.height - 8, { steps: 12 })
  await expect(page.locator('.slot')).toBeVisible()
  await page.mouse.up()
  const moved = ['Review code']
  await expect.poll(() => titles(page, 'Todo')).toEqual(moved)
  expect(await titles(page, 'Done')).toContain('Write code')
  await expect.poll(() => titles(other, 'Todo')).toEqual(moved)
  expectNoPolling(polls)

  await page.getByText('Write code', { exact: true }).click()
  await other.getByText('Write code', { exact: true }).click()
  await page.getByLabel('Comment', { exact: true }).fill('It works by **steam**.')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await expect(page.getByRole('article').locator('strong').last()).toHaveText('steam')
  await expect(other.getByRole('article')).toContainText('It works by steam.')
  await expectAccessible(page)
  const cardId = new URL(page.url()).pathname.split('/').at(-1)!
  await page.getByRole('button', { name: 'Close' }).click()

  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await page.getByRole('menuitem', { name: 'Profile and tokens' }).click()
  await page.getByRole('link', { name: 'API tokens' }).click()
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Script')
  await page.getByRole('button', { name: 'Create token' }).click()
  const shown = page.getByRole('dialog', { name: 'Copy your token now' })
  await expectAccessible(page)
  const token = await shown.locator('code').first().innerText()
  const line = await shown.locator('code').last().innerText()
  expect(await runShell(`${line} --silent`)).toContain(email)

  const api = new URL('/api/public/v1', page.url()).href
  const done = await runShell(
    `curl --silent -X PATCH -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' ` +
      `-d '{"done":true}' ${api}/cards/${cardId}`,
  )
  expect(JSON.parse(done)).toMatchObject({ data: { title: 'Write code', done: true } })
  await other.keyboard.press('Escape')
  await expect.poll(() => titles(other, 'Done')).toContain('Done: Write code')
})

test('a new person does the same by keyboard only', async ({ page, newSignedOutPage }) => {
  const email = `grace.${crypto.randomUUID().slice(0, 8)}@example.com`
  const { keyboard } = page
  const press = async (...keys: string[]) => {
    for (const key of keys) await keyboard.press(key)
  }

  await page.goto('/')
  await tabTo(page.getByRole('link', { name: 'Create an account' }))
  await press('Enter')
  await expect(page.getByLabel('Your name')).toBeFocused()
  await keyboard.type('Grace Hopper')
  await press('Tab')
  await keyboard.type(email)
  await press('Tab')
  await keyboard.type(password)
  await press('Enter')
  await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
  await page.goto(await secretLinkTo(email))
  await tabTo(page.getByRole('button', { name: 'Confirm my address' }))
  await press('Enter')

  await tabTo(page.getByRole('button', { name: 'New workspace' }))
  await press('Enter')
  await expect(page.getByLabel('Name')).toBeFocused()
  await keyboard.type('Compilers')
  await press('Enter')
  await expect(page.getByText('Create your first board')).toBeVisible()

  await tabTo(page.getByRole('link', { name: 'Members', exact: true }))
  await press('Enter')
  await tabTo(page.getByRole('main').getByRole('link', { name: 'Settings' }))
  await page.keyboard.press('Enter')
  await tabTo(page.getByRole('link', { name: 'Import and export' }))
  await press('Enter')
  const choosing = page.waitForEvent('filechooser') // must be registered before Enter opens the chooser
  await tabTo(page.locator('input[type=file]'))
  await press('Enter')
  await (await choosing).setFiles(trelloExport)
  await tabTo(page.getByRole('button', { name: 'Import', exact: true }))
  await press('Enter')
  await tabTo(page.getByRole('link', { name: 'Open board' }))
  await press('Enter')
  await expect.poll(() => titles(page, 'Todo')).toEqual(['Write code', 'Review code'])

  const other = await newSignedOutPage()
  const polls = await signInElsewhere(other, email, page.url())

  await press('j', 'Alt+Shift+ArrowRight', 'Alt+Shift+ArrowRight')
  await expect.poll(() => titles(page, 'Done')).toContain('Write code')
  await expect(page.locator(':focus')).toContainText('Write code')
  await expect.poll(() => titles(other, 'Done')).toContain('Write code')
  expectNoPolling(polls)

  await press('Enter')
  await tabTo(page.getByLabel('Comment', { exact: true }))
  await keyboard.type('Found a moth in it.')
  await press('Control+Enter')
  await expect(page.getByRole('article')).toContainText('Found a moth in it.')
  await press('Escape', 'Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect.poll(() => titles(other, 'Done')).toContain('Write code')

  await press('Control+k')
  await expect(page.getByRole('combobox')).toBeFocused()
  await keyboard.type('profile')
  await press('Enter')
  await expect(page).toHaveURL('/profile')
  await tabTo(page.getByRole('link', { name: 'API tokens' }))
  await press('Enter')
  await tabTo(page.getByRole('button', { name: 'New token' }))
  await press('Enter')
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
  await keyboard.type('Script')
  await press('Enter')
  const shown = page.getByRole('dialog', { name: 'Copy your token now' })
  await expect(shown.getByRole('button', { name: 'Copy' }).first()).toBeFocused()
  const line = await shown.locator('code').last().innerText()
  expect(await runShell(`${line} --silent`)).toContain(email)
  await tabTo(shown.getByRole('button', { name: 'Done' }))
  await press('Enter')
  await expect(page.getByRole('listitem').filter({ hasText: 'Script' })).toContainText('Read and write')
})
