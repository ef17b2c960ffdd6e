// The public page of a board: an admin turns it on, and a guest in another browser reads, comments and submits
// cards.
import type { Page } from '@playwright/test'
import {
  callApi,
  axe,
  cookiesOf,
  expect,
  expectAccessible,
  send,
  server,
  shortenPauses,
  waitUntilSaved,
  tabTo,
  test,
  type World,
} from './fixtures'

/** Turns on the public page through the API, and returns its path. */
async function turnOnPublicPage(page: Page, world: World, settings: object): Promise<string> {
  const path = `/app/v1/boards/${world.boardId}/public-page`
  const { url } = await callApi<{ url: string }>(page, 'PATCH', path, { on: true, ...settings })
  return new URL(url).pathname
}

const openSettings = async (page: Page, world: World) => {
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Board settings…' }).click()
  return page.getByRole('dialog', { name: 'Board settings' })
}

// Takes more than five seconds, because guests can't send anything in the first seconds of their visit.
test('an admin turns the page on, a guest submits a card and comments, and members see the guest’s name', async ({
  page,
  world,
  newSignedOutPage,
}) => {
  test.slow()
  const dialog = await openSettings(page, world)
  await dialog.getByRole('switch', { name: /^Public page/ }).check()
  const address = dialog.getByLabel('Page address')
  await expect(address).toContainText('/p/')
  await dialog.getByRole('radio', { name: /^Submit cards/ }).check()
  await dialog.getByRole('switch', { name: /^Comments/ }).check()
  await dialog.getByLabel('New cards go to').selectOption('Doing')
  await dialog.getByLabel('Welcome').fill('Tell us **everything**.')
  await dialog.getByLabel('Welcome').blur()
  await waitUntilSaved(page)
  expect(await axe(page)).toEqual([])
  const path = new URL((await address.textContent())!).pathname

  const guest = await newSignedOutPage()
  const response = await guest.goto(path)
  expect(response!.headers()['x-robots-tag']).toBe('noindex, nofollow')
  expect(response!.headers()['referrer-policy']).toBe('no-referrer')
  await expect(guest.getByRole('heading', { level: 1, name: 'Plan' })).toBeVisible()
  await expect(guest.locator('strong', { hasText: 'everything' })).toBeVisible()
  await expect(guest.getByRole('region', { name: 'To do' }).getByRole('link')).toHaveCount(3)

  // Submit a card by mouse.
  await guest.getByRole('button', { name: 'Submit a card' }).click()
  await guest.getByLabel('Your name').fill('Rosa')
  await guest.getByLabel('Title').fill('A map of the venue')
  await guest.getByLabel('Details').fill('We did not find the *entrance*.')
  await guest.getByRole('button', { name: 'Submit', exact: true }).click()
  await expect(guest.getByText('It’s in the list Doing.')).toBeVisible({ timeout: 20_000 })
  await guest.getByRole('button', { name: 'Done' }).click()
  const card = guest.getByRole('region', { name: 'Doing' }).getByRole('link', { name: /A map of the venue/ })
  await expect(card).toBeVisible()

  // Add a comment by keyboard; the name is remembered.
  await tabTo(card)
  await guest.keyboard.press('Enter')
  await expect(guest.locator('em', { hasText: 'entrance' })).toBeVisible()
  await expect(guest.getByLabel('Your name')).toHaveValue('Rosa')
  await tabTo(guest.getByRole('textbox', { name: 'Comment' }))
  await guest.keyboard.type('Near the *river*?')
  await guest.keyboard.press('Tab')
  await guest.keyboard.press('Enter')
  await expect(guest.getByText('Guest (Rosa)')).toBeVisible({ timeout: 20_000 })
  await guest.keyboard.press('Escape')
  await expect(guest.getByRole('dialog')).toHaveCount(0)
  await expect(card).toBeFocused()

  // Members see both live, with the guest's name.
  await page.keyboard.press('Escape')
  const tile = page.getByRole('region', { name: 'Doing' }).getByRole('link', { name: /A map of the venue/ })
  await tile.click()
  const sheet = page.getByRole('dialog')
  await expect(sheet.getByRole('article', { name: 'Comment by Guest (Rosa)' })).toContainText('Near the river?')
  await expect(sheet.getByText('added this card to Doing')).toContainText('Guest (Rosa)')
})

test('the page is updated live, and an old address or a confidential board is not shared', async ({
  page,
  world,
  newSignedOutPage,
}) => {
  test.slow()
  const path = await turnOnPublicPage(page, world, { mode: 'read' })
  const guest = await newSignedOutPage()
  await shortenPauses(guest)
  await guest.goto(path)
  await expect(guest.getByRole('link', { name: /One/ })).toBeVisible()
  await expect(guest.getByRole('button', { name: 'Submit a card' })).toHaveCount(0)
  await world.post('/cards', { listId: world.lists.Done!, title: 'Added live' })
  await expect(guest.getByRole('link', { name: /Added live/ })).toBeVisible({ timeout: 30_000 })

  const dialog = await openSettings(page, world)
  const before = await dialog.getByLabel('Page address').textContent()
  await dialog.getByRole('button', { name: 'Replace address' }).click()
  await expect(dialog.getByLabel('Page address')).not.toHaveText(before!)
  await guest.reload()
  await expect(guest.getByRole('heading', { name: 'This board isn’t shared' })).toBeVisible()
  await expect(guest.getByRole('link', { name: 'Go to Cardwall' })).toHaveAttribute('href', '/')

  // A board that becomes confidential loses its page.
  const newPath = new URL((await dialog.getByLabel('Page address').textContent())!).pathname
  await guest.goto(newPath)
  await expect(guest.getByRole('link', { name: /One/ })).toBeVisible()
  await dialog.getByRole('radio', { name: /^Confidential/ }).check()
  await expect(dialog.getByRole('switch', { name: /^Public page/ })).toBeDisabled()
  await expect(dialog.getByRole('switch', { name: /^Public page/ })).not.toBeChecked()
  await waitUntilSaved(page)
  await guest.reload()
  await expect(guest.getByRole('heading', { name: 'This board isn’t shared' })).toBeVisible()
})

test('on a phone the lists are stacked, and a guest submits by keyboard only', async ({
  page,
  world,
  newSignedOutPage,
}) => {
  test.slow()
  const path = await turnOnPublicPage(page, world, { mode: 'submit', allLists: false, lists: [world.lists['To do']] })
  const guest = await newSignedOutPage({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  await guest.goto(path)
  await expect(guest.getByRole('heading', { level: 2 })).toHaveText(['To do3'])
  expect(await guest.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await tabTo(guest.getByRole('button', { name: 'Submit a card' }))
  await guest.keyboard.press('Enter')
  await expect(guest.getByLabel('Your name')).toBeFocused()
  await guest.keyboard.type('Noor')
  await guest.keyboard.press('Tab')
  await guest.keyboard.type('Longer opening hours')
  await guest.keyboard.press('Enter')
  await expect(guest.getByText('It’s in the list To do.')).toBeVisible({ timeout: 20_000 })
  await expect(guest.getByRole('button', { name: 'Done' })).toBeFocused()
  await guest.keyboard.press('Enter')
  await expect(guest.getByRole('link', { name: /Longer opening hours/ })).toBeVisible()
  expect(await axe(guest)).toEqual([])
})

test('a signed-in person is a guest on the page too', async ({ page, world }) => {
  const path = await turnOnPublicPage(page, world, { mode: 'read' })
  const requests: Promise<string>[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/'))
      requests.push(request.allHeaders().then((headers) => `${pathname} ${headers.cookie ?? 'without a cookie'}`))
  })
  await page.goto(path)
  await expect(page.getByRole('heading', { level: 1, name: 'Plan' })).toBeVisible()
  expect(await Promise.all(requests)).toEqual(['/api/app/v1/public-page without a cookie'])
  expect(
    await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .map((entry) => entry.name)
        .join(' '),
    ),
  ).not.toMatch(/BoardRoute|CardSheet/)
})

/** Attaches a file to the card One, and returns its ID. */
async function attach(page: Page, world: World, name: string, content: Buffer): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(content)]), name)
  const headers = { Origin: server().url, Cookie: await cookiesOf(page) }
  const response = await send(`/api/public/v1/cards/${world.cards.One}/attachments`, { headers, body: form })
  return ((await response.json()) as { data: { id: string } }).data.id
}

// Takes more than five seconds, because it checks accessibility several times.
test('guests see covers and files, and download them, only if the page shows them', async ({
  page,
  world,
  newSignedOutPage,
}) => {
  test.slow()
  const path = await turnOnPublicPage(page, world, { mode: 'read' })
  const dialog = await openSettings(page, world)
  const picture = await dialog.screenshot({ type: 'png' })
  const coverId = await attach(page, world, 'Stage.png', picture)
  await callApi(page, 'PATCH', `/public/v1/attachments/${coverId}`, { cover: true })
  await attach(page, world, 'Plan.html', Buffer.from('<!doctype html><script>document.title = "run"</script>'))
  await attach(page, world, 'Notes.txt', Buffer.from('The venue is ours.'))
  await world.post(`/cards/${world.cards.One}/attachments`, { url: 'https://example.com/brief', name: 'Brief' })

  const guest = await newSignedOutPage()
  await guest.goto(path)
  const tile = guest.getByRole('link', { name: /One/ })
  await expect(tile).toBeVisible()
  await expect(tile.locator('img')).toHaveCount(0)
  await expect(tile).not.toContainText('attachments')

  const shown = dialog.getByRole('switch', { name: /^Show attached files/ })
  await expect(shown).not.toBeChecked()
  await shown.check()
  await waitUntilSaved(page)
  await expect
    .poll(() => callApi<{ attachments: boolean }>(page, 'GET', `/app/v1/boards/${world.boardId}/public-page`))
    .toMatchObject({ attachments: true })
  await guest.reload()
  const width = (image: Element) => (image as HTMLImageElement).naturalWidth
  await expect.poll(() => tile.locator('img').evaluate(width)).toBeGreaterThan(100)
  await expect(tile).toContainText('4 attachments')
  await expectAccessible(guest)

  await tile.click()
  const files = guest.getByRole('region', { name: 'Attachments' })
  await expect.poll(() => files.locator('img').evaluate(width)).toBeGreaterThan(100)
  await expect(files.getByRole('link', { name: /^Brief/ })).toHaveAttribute('rel', 'noopener noreferrer nofollow')
  await expect(files.getByRole('link', { name: /^Plan\.html/ })).toHaveCount(0)
  await expectAccessible(guest)
  for (const name of ['Stage.png', 'Plan.html', 'Notes.txt']) {
    const download = guest.waitForEvent('download')
    await files.getByRole('link', { name: `Download ${name}` }).click()
    expect((await download).suggestedFilename()).toBe(name)
  }
  const tab = guest.waitForEvent('popup')
  await files.getByRole('link', { name: /^Stage\.png \(opens/ }).click()
  await expect((await tab).locator('img')).toBeVisible()
  const source = (await files.locator('img').getAttribute('src'))!
  expect((await guest.request.get(source)).status()).toBe(200)

  await shown.uncheck()
  await expect.poll(async () => (await guest.request.get(source)).status()).toBe(404)
  await guest.reload()
  await expect(guest.getByRole('heading', { level: 3, name: 'One' })).toBeVisible()
  await expect(files).toHaveCount(0)
  await expect(tile.locator('img')).toHaveCount(0)
})
