import { type Page } from '@playwright/test'
import { axe, expect, expectAccessible, server, test } from './fixtures'
import { Receiver, signatures, subscribe } from './receiver'

/** Rejects the first matching request as if the sign-in were more than ten minutes old. */
async function requireRecentSignInOnce(page: Page, method: string, path: string): Promise<void> {
  let rejected = false
  await page.route(`**${path}`, (route) => {
    if (rejected || route.request().method() !== method) return route.fallback()
    rejected = true
    const message = 'Sign in again. This requires a sign-in within the last ten minutes.'
    const reason = 'recent_sign_in_required'
    return route.fulfill({ status: 403, json: { error: { code: 'forbidden', message, reason } } })
  })
}

async function confirmSignIn(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Confirm it’s you' })
  await dialog.getByLabel(/^Password for/).fill(server().password)
  await page.keyboard.press('Enter')
  await expect(dialog).toHaveCount(0)
}

test('the webhook pages have no axe violations', async ({ page, world }) => {
  test.slow()
  await using receiver = await Receiver.start()
  const listPath = `/workspaces/${world.workspaceId}/webhooks`
  await page.goto(listPath)
  await expect(page.getByText('No webhooks yet')).toBeVisible()
  await expectAccessible(page)
  const id = await subscribe(world, receiver, { userAgent: 'Zapier' })
  await subscribe(world, receiver, { wholeWorkspace: true, name: 'Everything' })
  for (const path of [listPath, `/boards/${world.boardId}/webhooks`, `/webhooks/${id}`]) {
    await page.goto(path)
    await expect(page.getByText('Deploy bot').first()).toBeVisible()
    await expectAccessible(page)
  }
})

test('a webhook is created after signing in again, its secret is shown once, and a test is sent', async ({
  page,
  world,
}) => {
  await using receiver = await Receiver.start({ status: 202, text: 'accepted, thank you' })
  await requireRecentSignInOnce(page, 'POST', '/api/public/v1/webhooks')
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Webhooks' }).click()
  await page.getByRole('button', { name: 'New webhook' }).click()
  const dialog = page.getByRole('dialog', { name: 'New webhook' })
  await expect(dialog.getByRole('button', { name: 'Create webhook' })).toBeDisabled()
  await expect(dialog.getByRole('group', { name: 'Cards' })).toHaveCount(0)
  await dialog.getByLabel('URL', { exact: true }).fill('https://127.0.0.2/hook')
  await dialog.getByLabel('Name', { exact: true }).fill('Deploy bot')
  await dialog.getByRole('checkbox', { name: 'All events' }).uncheck()
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await expect(dialog.getByRole('alert')).toContainText('at least one event')
  await dialog.getByRole('checkbox', { name: 'A card is created' }).check()
  await expect(dialog.getByRole('checkbox', { name: 'Cards', exact: true })).toHaveJSProperty('indeterminate', true)
  expect(await axe(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await confirmSignIn(page)
  await expect(dialog.getByLabel('URL', { exact: true })).toHaveAttribute('aria-invalid', 'true')
  await expect(dialog).toContainText('The address is a loopback address')
  await dialog.getByLabel('URL', { exact: true }).fill(receiver.url)
  await dialog.getByRole('button', { name: 'Create webhook' }).click()

  const shown = page.getByRole('dialog', { name: 'Copy the signing secret now' })
  const secret = await shown.locator('code').first().innerText()
  expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/)
  await shown.getByRole('tab', { name: 'Python' }).click()
  await expect(shown.locator('code').last()).toContainText('WebhookVerificationError')
  expect(await axe(page)).toEqual([])
  await shown.getByRole('button', { name: 'Done' }).click()
  await expect(page).toHaveURL(/\/webhooks\/whk_\w+\/deliveries$/)
  await expect(page.getByText('No deliveries yet')).toBeVisible()
  await expect(page.getByText(secret)).toHaveCount(0)

  await page.getByRole('button', { name: 'Send test event' }).click()
  const testDialog = page.getByRole('dialog', { name: 'Test event' })
  await expect(testDialog).toContainText('The receiver accepted the test event.')
  expect(await page.getByText('No deliveries yet').count(), 'empty-log messages while the test event is sent').toBe(0)
  await expect(testDialog).toContainText('HTTP 202')
  await expect(testDialog).toContainText('accepted, thank you')
  expect(await axe(page)).toEqual([])
  expect(signatures(receiver.deliveries[0]!, secret)).toEqual({ total: 1, valid: 1 })
  await testDialog.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('list', { name: 'Deliveries' })).toContainText('Test event')
})

test('a webhook of the workspace is created, paused and deleted by keyboard only', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  await page.goto(`/workspaces/${world.workspaceId}/webhooks`)
  await page.getByRole('button', { name: 'New webhook' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('URL', { exact: true })).toBeFocused()
  await page.keyboard.type(receiver.url)
  await page.keyboard.press('Tab')
  await page.keyboard.type('Night bot')
  await page.keyboard.press('Tab')
  await expect(page.getByLabel('Scope')).toBeFocused()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect(page.getByRole('checkbox', { name: 'All events' })).not.toBeChecked()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect(page.getByRole('checkbox', { name: 'A card is restored' })).toBeChecked()
  await page.keyboard.press('Enter')
  const shown = page.getByRole('dialog', { name: /^(Copy the signing secret now|Confirm it’s you)$/ })
  await expect(shown).toBeVisible()
  if ((await shown.getByLabel(/^Password for/).count()) > 0) await confirmSignIn(page)
  await expect(page.getByRole('dialog', { name: 'Copy the signing secret now' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/deliveries$/)

  await page.goto(`/workspaces/${world.workspaceId}/webhooks`)
  const row = page.getByRole('listitem').filter({ hasText: 'Night bot' })
  await expect(row).toContainText('All boards visible to the whole workspace')
  await row.getByRole('button', { name: 'Actions for Night bot' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('p')
  await expect(page.getByRole('menuitem', { name: 'Pause' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(row).toContainText('Paused')
  await row.getByRole('button', { name: 'Actions for Night bot' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  const confirmation = page.getByRole('dialog', { name: 'Delete “Night bot”?' })
  await expect(confirmation.getByRole('button', { name: 'Cancel' })).toBeFocused()
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(row).toHaveCount(0)
  await expect(page.getByText('No webhooks yet')).toBeVisible()
})

test('enabling a webhook sends a test event', async ({ page, world }) => {
  await using receiver = await Receiver.start({ status: 500, text: 'out of order' })
  const id = await subscribe(world, receiver)
  await page.goto(`/webhooks/${id}`)
  await page.getByRole('button', { name: 'Actions for Deploy bot' }).click()
  await page.getByRole('menuitem', { name: 'Pause' }).click()
  await expect(page.getByText('This webhook was paused')).toBeVisible()
  await page.getByRole('button', { name: 'Turn on…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Turn on Deploy bot' })
  await expect(dialog).toContainText('The webhook stays off')
  await expect(dialog).toContainText('out of order')
  receiver.reply = { status: 200 }
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await expect(dialog).toContainText('The webhook is on')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('button', { name: 'Turn on…' })).toHaveCount(0)
  await expect(page.getByText('Deliveries are succeeding.')).toBeVisible()
})

test('name, URL and events are changed; only the host and the last four characters are shown', async ({
  page,
  world,
}) => {
  await using receiver = await Receiver.start()
  await using other = await Receiver.start()
  const id = await subscribe(world, receiver)
  await page.goto(`/webhooks/${id}`)
  const host = new URL(receiver.url).host
  await expect(page.getByText(`${host}/…wall`)).toBeVisible()
  await page.getByRole('button', { name: 'Actions for Deploy bot' }).click()
  await page.getByRole('menuitem', { name: 'Edit…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit webhook' })
  await dialog.getByLabel('Name', { exact: true }).fill('Other bot')
  await dialog.getByLabel('New URL').fill('http://10.0.0.1/x')
  await dialog.getByRole('checkbox', { name: 'Someone comments' }).check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog.getByLabel('New URL')).toHaveAttribute('aria-invalid', 'true')
  expect(await axe(page)).toEqual([])
  await dialog.getByLabel('New URL').fill(other.url)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Other bot')
  await expect(page.getByText(`${new URL(other.url).host}/…wall`)).toBeVisible()
  await expect(page.getByRole('region', { name: 'Events' })).toContainText('comment.added')
  await expect(page.locator('body')).not.toContainText('/cardwall')
  await page.getByRole('button', { name: 'Edit events' }).click()
  await expect(dialog.getByRole('checkbox', { name: 'Someone comments' })).toBeChecked()
})

test('after a rotation, deliveries are signed with both secrets for 24 hours', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  const id = await subscribe(world, receiver)
  await requireRecentSignInOnce(page, 'POST', '/rotate-secret')
  await page.goto(`/webhooks/${id}`)
  await expect(page.getByText('One secret is active')).toBeVisible()
  await page.getByRole('button', { name: 'New secret…' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Create a new secret?' })
  await confirmation.getByRole('button', { name: 'Create secret' }).click()
  await confirmSignIn(page)
  const shown = page.getByRole('dialog', { name: 'Copy the new signing secret now' })
  await expect(shown).toContainText('signed with both secrets')
  const secret = await shown.locator('code').first().innerText()
  await page.keyboard.press('Escape')
  await expect(page.getByText(/^Two secrets are active until /)).toBeVisible()
  await page.getByRole('button', { name: 'Send test event' }).click()
  await expect(page.getByText('The receiver accepted the test event.')).toBeVisible()
  expect(signatures(receiver.deliveries.at(-1)!, secret)).toEqual({ total: 2, valid: 1 })

  // Another rotation within the 24 hours needs a confirmation that explains its effect.
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'New secret…' }).click()
  await expect(confirmation).toContainText('Two secrets are active until')
  await confirmation.getByRole('button', { name: 'Create secret' }).click()
  await expect(shown).toContainText('signed with both secrets')
  expect(await shown.locator('code').first().innerText()).not.toBe(secret)
})

test('a webhook created by an integration platform shows the platform’s name', async ({ page, world }) => {
  await using receiver = await Receiver.start()
  await subscribe(world, receiver, { name: 'New card to sheet', userAgent: 'Zapier' })
  await page.goto(`/boards/${world.boardId}/webhooks`)
  const row = page.getByRole('listitem').filter({ hasText: 'New card to sheet' })
  await expect(row.getByText('Zapier')).toBeVisible()
  await expect(row).toContainText('Card created and card moved')
})
