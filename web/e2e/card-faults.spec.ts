// Cards that can't be loaded or changed, drafts of titles and list names, and the texts of due times and limits.
import { callApi, expect, hold, test, titles, waitUntilSaved } from './fixtures'

test('a card that failed to load can be loaded again', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Three')).toBeVisible()
  let status = 500
  await page.route(`**/api/public/v1/cards/${world.cards.One}`, (route) =>
    status === 200
      ? route.continue()
      : route.fulfill({ status, json: { error: { code: 'internal', message: 'Something broke.' } } }),
  )
  await page.getByText('One', { exact: true }).click()
  const card = page.getByRole('dialog')
  await expect(card.getByRole('heading', { name: 'The card couldn’t be loaded' })).toBeVisible()
  await expect(card).toContainText('Something broke.')
  status = 404
  await card.getByRole('button', { name: 'Try again' }).click()
  await expect(card.getByRole('heading', { name: 'Card not found' })).toBeVisible()
  await expect(card).toContainText('It may have been deleted, or you don’t have access to its board.')
  await page.keyboard.press('Escape')
  await expect(card).toHaveCount(0) // until then, the dialog contains the title too
  status = 200
  await page.getByText('One', { exact: true }).click()
  await expect(card.getByRole('heading', { name: 'Comments and activity' })).toBeVisible()
})

test('keys change nothing on an archived card', async ({ page, world }) => {
  await callApi(page, 'POST', `/public/v1/cards/${world.cards.One}/archive`)
  await page.goto(`/cards/${world.cards.One}`)
  await expect(page.getByRole('heading', { name: 'Comments and activity' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'No due date' })).toBeDisabled()
  await page.locator('dialog .inside').focus()
  const writes: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && writes.push(request.url()))
  for (const key of ['l', 'a', 'd', 's', 'i', 'Space', 'Delete']) await page.keyboard.press(key)
  await expect(page.getByRole('dialog')).toHaveCount(1)
  // Changes are sent in order, so a change by a key would be sent before this one.
  const restored = page.waitForResponse('**/restore')
  await page.getByRole('button', { name: 'Restore' }).click()
  await restored
  await expect(page.getByRole('dialog')).toHaveCount(1)
  expect(writes.map((url) => new URL(url).pathname)).toEqual([`/api/public/v1/cards/${world.cards.One}/restore`])
})

test('a card that is restored on its page returns to its former position', async ({ page, world }) => {
  await callApi(page, 'POST', `/public/v1/cards/${world.cards.Two}/archive`)
  await page.goto(`/cards/${world.cards.Two}`)
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.keyboard.press('Escape')
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two', 'Three'])
})

test('start and due time have a note with the time in the zone of the card', async ({ page, world }) => {
  await callApi(page, 'PUT', `/public/v1/cards/${world.cards.One}/due`, {
    dueDate: '2031-03-04',
    dueTime: '09:00',
    startDate: '2031-03-03',
    startTime: '10:30',
    timeZone: 'Asia/Tokyo',
  })
  await page.goto(`/cards/${world.cards.One}`)
  const details = page.getByRole('complementary', { name: 'Details' })
  await expect(details).toContainText('4 Mar 2031 09:00 in Asia/Tokyo')
  await expect(details).toContainText('3 Mar 2031 10:30 in Asia/Tokyo')
})

test('a restored draft of a title is saved only after the next input', async ({ page, world }) => {
  await page.clock.install()
  await page.goto(`/cards/${world.cards.One}`)
  const title = page.getByRole('textbox', { name: 'Title' })
  await expect(page.getByRole('heading', { name: 'Comments and activity' })).toBeVisible()
  // The page is reloaded before the title is saved, however long that takes.
  const path = `**/api/public/v1/cards/${world.cards.One}`
  await page.route(path, (route) => (route.request().method() === 'GET' ? route.continue() : undefined))
  await title.fill('One, renamed')
  await page.reload()
  await page.unroute(path)
  await expect(title).toHaveValue('One, renamed')
  const saved = () => callApi<{ title: string }>(page, 'GET', `/public/v1/cards/${world.cards.One}`)
  await page.clock.runFor(1500) // longer than the page's delay
  await waitUntilSaved(page)
  expect((await saved()).title).toBe('One')
  await title.press('End')
  await page.keyboard.type('!')
  await page.clock.runFor(1500)
  await waitUntilSaved(page)
  expect((await saved()).title).toBe('One, renamed!')
})

test('a limit of one card is in the singular, and an unsaved list keeps no draft', async ({ page, world }) => {
  await world.post(`/boards/${world.boardId}/lists`, { name: 'Now', wipLimit: 1 })
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByRole('region', { name: 'Now' }).getByTitle('Limit: 1 card', { exact: true })).toBeVisible()
  const release = await hold(page, '**/lists')
  await page.getByRole('button', { name: 'Add list' }).click()
  await page.keyboard.type('Later')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Later' }).getByRole('button', { name: 'Later', exact: true }).click()
  await page.keyboard.type('Much later')
  const drafts = await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('list-name:new_')))
  expect(drafts).toEqual([])
  release()
})
