import { type Page } from '@playwright/test'
import { axe, expect, server, test } from './fixtures'
import { Receiver, signatures, subscribe } from './receiver'

/** The first such request is refused as it is ten minutes after a sign-in. */
async function once403(page: Page, method: string, path: string): Promise<void> {
  let refused = false
  await page.route(`**${path}`, (route) => {
    if (refused || route.request().method() !== method) return route.fallback()
    refused = true
    const message = 'Sign in again: this needs a sign-in within the last ten minutes.'
    return route.fulfill({ status: 403, json: { error: { code: 'forbidden', message } } })
  })
}

async function confirm(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByLabel(/^Password of/).fill(server().password)
  await page.keyboard.press('Enter')
  await expect(dialog).toHaveCount(0)
}

const looks = ['light', 'dark', 'phone'] as const

async function look(page: Page, as: (typeof looks)[number]): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: as === 'dark' ? 'dark' : 'light' })
  if (as === 'phone') await page.setViewportSize({ width: 390, height: 844 })
}

for (const as of looks) {
  test(`axe finds nothing on the pages of webhooks, ${as}`, async ({ page, world }) => {
    await using receiver = await Receiver.start()
    await look(page, as)
    const at = `/workspaces/${world.workspaceId}/webhooks`
    await page.goto(at)
    await expect(page.getByText('No webhooks yet')).toBeVisible()
    expect(await axe(page)).toEqual([])
    const own = await subscribe(world, receiver, { agent: 'Zapier' })
    await subscribe(world, receiver, { wide: true, name: 'Everything' })
    for (const path of [at, `/boards/${world.boardId}/webhooks`, `/webhooks/${own}`]) {
      await page.goto(path)
      await expect(page.getByText('Deploy bot').first()).toBeVisible()
      await page.waitForLoadState('networkidle')
      expect(await axe(page), path).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        page.viewportSize()!.width,
      )
    }
  })
}

test('a webhook is made after signing in again, its secret shown once, and tried', async ({ page, world }) => {
  await using receiver = await Receiver.start({ status: 202, text: 'taken, thank you' })
  await once403(page, 'POST', '/api/public/v1/webhooks')
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Webhooks' }).click()
  await page.getByRole('button', { name: 'New webhook' }).click()
  const dialog = page.getByRole('dialog', { name: 'New webhook' })
  await dialog.getByLabel('Address').fill('https://127.0.0.2/hook')
  await dialog.getByLabel('Name', { exact: true }).fill('Deploy bot')
  await dialog.getByRole('checkbox', { name: 'All events' }).uncheck()
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await expect(dialog.getByRole('alert')).toContainText('at least one event')
  await dialog.getByRole('checkbox', { name: 'A card is created' }).check()
  await expect(dialog.getByRole('checkbox', { name: 'Cards', exact: true })).toHaveJSProperty('indeterminate', true)
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await confirm(page)
  await expect(dialog.getByLabel('Address')).toHaveAttribute('aria-invalid', 'true')
  await expect(dialog).toContainText('The address is a loopback address')
  await dialog.getByLabel('Address').fill(receiver.url)
  await dialog.getByRole('button', { name: 'Create webhook' }).click()

  const shown = page.getByRole('dialog', { name: 'Copy the signing secret now' })
  const secret = await shown.locator('code').first().innerText()
  expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/)
  await shown.getByRole('tab', { name: 'Python' }).click()
  await expect(shown.locator('code').last()).toContainText('WebhookVerificationError')
  expect(await axe(page)).toEqual([])
  await shown.getByRole('button', { name: 'I have copied it' }).click()
  await expect(page).toHaveURL(/\/webhooks\/whk_\w+\/deliveries$/)
  await expect(page.getByText('Nothing was sent yet')).toBeVisible()
  await expect(page.getByText(secret)).toHaveCount(0)

  await page.getByRole('button', { name: 'Send a test event' }).click()
  const tried = page.getByRole('dialog', { name: 'Test event' })
  await expect(tried).toContainText('The receiver took it.')
  await expect(tried).toContainText('HTTP 202')
  await expect(tried).toContainText('taken, thank you')
  expect(await axe(page)).toEqual([])
  expect(signatures(receiver.got[0]!, secret)).toEqual({ all: 1, right: 1 })
  await tried.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('list', { name: 'Deliveries' })).toContainText('Test event')
})

test('a webhook of the workspace is made, paused and deleted by keyboard alone', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  await page.goto(`/workspaces/${world.workspaceId}/webhooks`)
  await page.getByRole('button', { name: 'New webhook' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Address')).toBeFocused()
  await page.keyboard.type(receiver.url)
  await page.keyboard.press('Tab')
  await page.keyboard.type('Night bot')
  await page.keyboard.press('Tab')
  await expect(page.getByLabel('Covers')).toBeFocused()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect(page.getByRole('checkbox', { name: 'All events' })).not.toBeChecked()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect(page.getByRole('checkbox', { name: 'It is restored' })).toBeChecked()
  await page.keyboard.press('Enter')
  const shown = page.getByRole('dialog', { name: /^(Copy the signing secret now|Confirm that it is you)$/ })
  await expect(shown).toBeVisible()
  if ((await shown.getByLabel(/^Password of/).count()) > 0) await confirm(page)
  await expect(page.getByRole('dialog', { name: 'Copy the signing secret now' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/deliveries$/)

  await page.goto(`/workspaces/${world.workspaceId}/webhooks`)
  const row = page.getByRole('listitem').filter({ hasText: 'Night bot' })
  await expect(row).toContainText('Every board the whole workspace sees')
  await row.getByRole('button', { name: 'Actions of Night bot' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('p')
  await expect(page.getByRole('menuitem', { name: 'Pause' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(row).toContainText('Paused')
  await row.getByRole('button', { name: 'Actions of Night bot' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  const sure = page.getByRole('dialog', { name: 'Delete “Night bot”?' })
  await expect(sure.getByRole('button', { name: 'Cancel' })).toBeFocused()
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(row).toHaveCount(0)
  await expect(page.getByText('No webhooks yet')).toBeVisible()
})

test('switching on is proved by a test event', async ({ page, world }) => {
  await using receiver = await Receiver.start({ status: 500, text: 'out of order' })
  const id = await subscribe(world, receiver)
  await page.goto(`/webhooks/${id}`)
  await page.getByRole('button', { name: 'Actions of Deploy bot' }).click()
  await page.getByRole('menuitem', { name: 'Pause' }).click()
  await expect(page.getByText('A person paused it')).toBeVisible()
  await page.getByRole('button', { name: 'Switch on…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Switch on Deploy bot' })
  await expect(dialog).toContainText('stays as it was')
  await expect(dialog).toContainText('out of order')
  receiver.answer = { status: 200 }
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await expect(dialog).toContainText('so the webhook is on')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('button', { name: 'Switch on…' })).toHaveCount(0)
  await expect(page.getByText('It sends what it was asked to')).toBeVisible()
})

test('name, address and events are changed; only host and last four are shown', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  await using other = await Receiver.start()
  const id = await subscribe(world, receiver)
  await page.goto(`/webhooks/${id}`)
  const host = new URL(receiver.url).host
  await expect(page.getByText(`${host}/…wall`)).toBeVisible()
  await page.getByRole('button', { name: 'Actions of Deploy bot' }).click()
  await page.getByRole('menuitem', { name: 'Change…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change the webhook' })
  await dialog.getByLabel('Name', { exact: true }).fill('Other bot')
  await dialog.getByLabel('Another address').fill('http://10.0.0.1/x')
  await dialog.getByRole('checkbox', { name: 'Someone comments' }).check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByLabel('Another address')).toHaveAttribute('aria-invalid', 'true')
  expect(await axe(page)).toEqual([])
  await dialog.getByLabel('Another address').fill(other.url)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Other bot')
  await expect(page.getByText(`${new URL(other.url).host}/…wall`)).toBeVisible()
  await expect(page.getByRole('region', { name: 'Events' })).toContainText('comment.added')
  await expect(page.locator('body')).not.toContainText('/cardwall')
})

test('another secret comes with 24 hours in which both are signed with', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  const id = await subscribe(world, receiver)
  await once403(page, 'POST', '/rotate-secret')
  await page.goto(`/webhooks/${id}`)
  await expect(page.getByText('One is active')).toBeVisible()
  await page.getByRole('button', { name: 'Actions of Deploy bot' }).click()
  await page.getByRole('menuitem', { name: 'Make another secret…' }).click()
  const ask = page.getByRole('dialog', { name: 'Make another secret?' })
  await ask.getByRole('button', { name: 'Make another secret' }).click()
  await confirm(page)
  const shown = page.getByRole('dialog', { name: 'Copy the new signing secret now' })
  await expect(shown).toContainText('signed with both secrets')
  const secret = await shown.locator('code').first().innerText()
  await page.keyboard.press('Escape')
  await expect(page.getByText(/^Two are active until /)).toBeVisible()
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await expect(page.getByText('The receiver took it.')).toBeVisible()
  expect(signatures(receiver.got.at(-1)!, secret)).toEqual({ all: 2, right: 1 })
})

test('a subscription of a platform is marked', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  await subscribe(world, receiver, { name: 'New card to sheet', agent: 'Zapier' })
  await page.goto(`/boards/${world.boardId}/webhooks`)
  const row = page.getByRole('listitem').filter({ hasText: 'New card to sheet' })
  await expect(row.getByText('Zapier')).toBeVisible()
  await expect(row).toContainText('Card created and card moved')
})
