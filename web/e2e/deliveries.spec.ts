import { type Page } from '@playwright/test'
import { expect, linkInEmail, expectAccessible, server, shortenPauses, test, type World } from './fixtures'
import { Receiver, subscribe } from './receiver'

test.beforeEach(({ page }) => shortenPauses(page))

const createCard = (world: World, title: string) => world.post('/cards', { listId: world.lists['To do'], title })
const log = (page: Page) => page.getByRole('list', { name: 'Deliveries' })
const rows = (page: Page) => log(page).getByRole('listitem')
const panel = (page: Page) => page.getByRole('region', { name: 'Card created' })

test('the log has no axe violations', async ({ page, world }) => {
  test.slow()
  await using receiver = await Receiver.start({ status: 418, text: '{"error":"no coffee"}' })
  const id = await subscribe(world, receiver)
  await createCard(world, 'One more')
  await expect.poll(() => receiver.events).toBe(1)
  receiver.reply = { status: 204 }
  await createCard(world, 'And another')
  await page.goto(`/webhooks/${id}/deliveries`)
  await expect(rows(page).filter({ hasText: 'Delivered' })).toHaveCount(1)
  await expectAccessible(page)
  await rows(page).filter({ hasText: 'Failed' }).getByRole('link').click()
  await expect(panel(page)).toContainText('no coffee')
  await expectAccessible(page)
})

test('a change on the board appears in the log without a reload', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  const id = await subscribe(world, receiver)
  await page.goto(`/webhooks/${id}/deliveries`)
  await expect(page.getByText('No deliveries yet')).toBeVisible()
  await createCard(world, 'Live')
  await expect(rows(page)).toHaveCount(1)
  await expect(rows(page)).toContainText('Delivered')
  await expect(rows(page)).toContainText('HTTP 204')
  await expect(page.getByRole('meter', { name: 'Deliveries today' })).toHaveAttribute('value', '1')
  await rows(page).getByRole('link').click()
  await expect(panel(page).getByRole('region', { name: 'Body' })).toContainText('"type": "card.created"')
  await page.goBack()
  await expect(panel(page)).toHaveCount(0)
})

// Takes more than five seconds, because the server makes pauses of seven seconds between the attempts.
test('attempts are shown as a timeline, and a delivery that gave up is redelivered', async ({ page, world }) => {
  test.setTimeout(60_000)
  await using receiver = await Receiver.start({ status: 503, text: 'try later' })
  const id = await subscribe(world, receiver)
  await page.goto(`/webhooks/${id}/deliveries`)
  let respond = () => {}
  receiver.responseGate = new Promise<void>((resolve) => (respond = resolve))
  await createCard(world, 'Attempted')
  await rows(page).getByRole('link').click()
  await expect(panel(page)).toBeVisible()
  respond()
  await expect(panel(page)).toContainText('Next attempt')
  await expect(panel(page).getByText('Gave up', { exact: true })).toBeVisible({ timeout: 20_000 })
  const attempts = panel(page).getByRole('list').getByRole('listitem')
  await expect(attempts).toHaveCount(3)
  await expect(attempts.first()).toContainText('HTTP 503')
  await expect(attempts.first()).toContainText('try later')
  receiver.reply = { status: 200, text: 'here now' }
  await panel(page).getByRole('button', { name: 'Redeliver' }).click()
  await expect(panel(page).getByText('Delivered', { exact: true })).toBeVisible({ timeout: 15_000 })
  await expect(attempts).toHaveCount(4)
  await expect(attempts.last()).toContainText('here now')
  const ids = new Set(receiver.deliveries.map((delivery) => delivery.headers['webhook-id']))
  expect(ids.size).toBe(1)
})

test('several deliveries are selected and redelivered, by mouse and by keyboard; the filter is in the URL', async ({
  page,
  world,
}) => {
  test.setTimeout(90_000)
  await using receiver = await Receiver.start({ status: 400 })
  const id = await subscribe(world, receiver)
  for (const title of ['One', 'Two', 'Three', 'Four']) await createCard(world, title)
  await page.goto(`/webhooks/${id}/deliveries`)
  await expect(rows(page).filter({ hasText: 'Failed' })).toHaveCount(4)
  receiver.reply = { status: 204 }

  await rows(page).first().getByRole('link').focus()
  await page.keyboard.press('x')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('x')
  await expect(page.getByText('2 selected')).toBeVisible()
  await page.keyboard.press('r')
  await expect(rows(page).filter({ hasText: 'Delivered' })).toHaveCount(2)

  await page.getByRole('navigation', { name: 'Filter by status' }).getByRole('link', { name: 'Failed' }).click()
  await expect(page).toHaveURL(/\?status=failed$/)
  await expect(rows(page)).toHaveCount(2)
  await page.reload()
  await expect(rows(page)).toHaveCount(2)
  await page.getByRole('checkbox', { name: 'Select all that can be redelivered' }).check()
  await page.getByRole('button', { name: 'Redeliver' }).click()
  await expect(page.getByText('No deliveries with the status “Failed”.')).toBeVisible()
  await page.getByRole('navigation', { name: 'Filter by status' }).getByRole('link', { name: 'All' }).click()
  await expect(rows(page).filter({ hasText: 'Delivered' })).toHaveCount(4)
  expect(receiver.deliveries).toHaveLength(8)
})

test('the owner of a failing webhook gets an email, follows its link, and redelivers', async ({
  page,
  world,
  browser,
}) => {
  test.setTimeout(120_000)
  await using receiver = await Receiver.start({ status: 400, text: 'unknown field' })
  const name = `Bot ${crypto.randomUUID().slice(0, 8)}`
  const id = await subscribe(world, receiver, { name })
  for (let i = 0; i < 10; i++) {
    await createCard(world, `Card ${i}`)
    await expect.poll(() => receiver.events, { timeout: 30_000 }).toBe(i + 1)
  }
  await page.goto(`/webhooks/${id}/deliveries`)
  await expect(page.getByText('Ten deliveries in a row failed')).toBeVisible({ timeout: 15_000 })
  const link = await linkInEmail(id, /https?:\/\/\S+\/webhooks\/\S+/)
  const last = receiver.deliveries.at(-1)!.event.id

  // A person who opens an email may be signed out.
  const context = await browser.newContext()
  const other = await context.newPage()
  await shortenPauses(other)
  await other.goto(link)
  await other.getByLabel('Email').fill(server().email)
  await other.getByLabel('Password').fill(server().password)
  await other.keyboard.press('Enter')
  await expect(other).toHaveURL(link)
  await expect(panel(other)).toContainText(last)
  await expect(panel(other)).toContainText('unknown field')
  await expect(panel(other).getByRole('button', { name: 'Redeliver' })).toBeDisabled()

  receiver.reply = { status: 204 }
  await other.getByRole('button', { name: 'Turn on…' }).click()
  await expect(other.getByText('The webhook is on')).toBeVisible()
  await other.getByRole('button', { name: 'Done' }).click()
  await panel(other).getByRole('button', { name: 'Redeliver' }).click()
  await expect(panel(other).getByText('Delivered', { exact: true })).toBeVisible()
  expect(receiver.deliveries.at(-1)!.event.id).toBe(last)
  await context.close()
})

test('a log of 100 deliveries is loaded with one request, and shows all of them', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  const id = await subscribe(world, receiver, { events: ['card.created'] })
  for (let i = 0; i < 10; i++) {
    await Promise.all(Array.from({ length: 10 }, (_, n) => createCard(world, `Card ${10 * i + n}`)))
  }
  await expect.poll(() => receiver.events, { timeout: 20_000 }).toBe(100)
  const response = page.waitForResponse((r) => r.url().includes(`/webhooks/${id}/deliveries?`))
  await page.goto(`/webhooks/${id}/deliveries`)
  expect(((await (await response).json()) as { data: unknown[] }).data).toHaveLength(100)
  await expect(rows(page)).toHaveCount(100)
})
