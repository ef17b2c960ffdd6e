import { type Page } from '@playwright/test'
import { axe, expect, waitUntilSaved, send, server, test, undo } from './fixtures'
import { signUpPerson } from './person'
import { png } from './png'

/** Rejects the first matching request as if the sign-in were more than ten minutes old. */
async function requireRecentSignInOnce(page: Page, method: string, path: string): Promise<void> {
  let rejected = false
  await page.route(`**/api/app/v1${path}`, (route) => {
    if (rejected || route.request().method() !== method) return route.fallback()
    rejected = true
    const message = 'Sign in again. This requires a sign-in within the last ten minutes.'
    const reason = 'recent_sign_in_required'
    return route.fulfill({ status: 403, json: { error: { code: 'forbidden', message, reason } } })
  })
}

test('a time zone is found and selected by keyboard, with undo', async ({ page }) => {
  await page.goto('/profile')
  const zone = page.getByRole('combobox', { name: 'Time zone' })
  const before = await zone.inputValue()
  await zone.focus()
  await page.keyboard.type('reykj')
  await expect(page.getByRole('listbox', { name: 'Time zones' }).getByRole('option')).toHaveCount(1)
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect(zone).toHaveValue('Reykjavik, Atlantic (UTC+00:00)')
  await undo(page)
  await expect(zone).toHaveValue(before)
})

test('a selected theme applies immediately and persists after a reload', async ({ page }) => {
  await page.goto('/profile')
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true })
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await waitUntilSaved(page)
  await page.reload()
  await expect(page.getByRole('radio', { name: 'Dark' })).toBeChecked()
  await page.getByRole('radio', { name: 'System' }).check({ force: true })
  await expect(page.locator('html')).not.toHaveAttribute('data-theme')
  await waitUntilSaved(page)
})

test('a token is created after signing in again, shown once, and revoked', async ({ page }) => {
  const name = `Script ${crypto.randomUUID().slice(0, 8)}`
  await requireRecentSignInOnce(page, 'POST', '/tokens')
  await page.goto('/profile/tokens')
  await page.getByRole('button', { name: 'New token' }).click()
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
  await page.keyboard.type(name)
  await page.getByRole('checkbox', { name: 'Administer' }).check()
  await page.getByLabel('Expires').selectOption('30')
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Create token' }).click()

  const confirm = page.getByRole('dialog', { name: 'Confirm it’s you' })
  await expect(confirm.getByLabel(/^Password for/)).toBeFocused()
  expect(await axe(page)).toEqual([])
  await page.keyboard.type('not this one')
  await page.keyboard.press('Enter')
  await expect(confirm.getByText('This is not your password.')).toBeVisible()
  await confirm.getByLabel(/^Password for/).fill(server().password)
  await page.keyboard.press('Enter')

  const shown = page.getByRole('dialog', { name: 'Copy your token now' })
  await expect(shown.locator('code').first()).toHaveText(/^cwl_[0-9A-Za-z]{36}$/)
  await expect(shown.locator('code').last()).toContainText('curl -H "Authorization: Bearer cwl_')
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Escape')
  const row = page.getByRole('listitem').filter({ hasText: name })
  await expect(row).toContainText('Read, write and administer')
  await row.getByRole('button', { name: `Revoke ${name}` }).click()
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await expect(row).toHaveCount(0)
})

test('on a short phone screen the buttons and the title of a long dialog stay in view', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 500 })
  await page.goto('/profile/tokens')
  await page.getByRole('button', { name: 'New token' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New API token' })
  await expect(dialog.getByRole('button', { name: 'Create token' })).toBeInViewport({ ratio: 1 })
  await dialog.getByLabel('Expires').scrollIntoViewIfNeeded()
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeInViewport({ ratio: 1 })
  expect(await axe(page)).toEqual([])
})

test('canceling the second sign-in changes nothing', async ({ page }) => {
  await requireRecentSignInOnce(page, 'POST', '/tokens')
  await page.goto('/profile/tokens')
  await page.getByRole('button', { name: 'New token' }).click()
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
  await page.keyboard.type('Never created')
  await page.getByRole('button', { name: 'Create token' }).click()
  await expect(page.getByRole('dialog', { name: 'Confirm it’s you' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog', { name: 'New API token' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Create token' })).toBeEnabled()
})

test('a passkey is added, confirms a sign-in, and is deleted', async ({ page }) => {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const name = `Laptop ${crypto.randomUUID().slice(0, 8)}`
  await page.goto('/profile/security')
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByRole('listitem').filter({ hasText: name })).toContainText('Never used')

  await requireRecentSignInOnce(page, 'DELETE', '/passkeys/*')
  await page.getByRole('button', { name: `Delete ${name}` }).click()
  await page.getByRole('button', { name: 'Delete passkey' }).click()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await expect(page.getByRole('listitem').filter({ hasText: name })).toHaveCount(0)
})

test('another session is ended', async ({ page }) => {
  const { url, email, password } = server()
  const response = await send('/api/app/v1/sign-in', {
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'Mozilla/5.0 (iPad) OPR/140.0', Origin: url },
    body: JSON.stringify({ email, password }),
  })
  expect(response.ok, await response.clone().text()).toBeTruthy()
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const status = async () => (await fetch(`${url}/api/app/v1/session`, { headers: { cookie } })).status
  await page.goto('/profile/security')
  const sessions = page.getByRole('region', { name: 'Sessions' })
  await expect(sessions.getByRole('listitem').first()).toContainText('This browser')
  await sessions.getByRole('button', { name: 'Sign out Opera on iPad' }).first().click()
  await expect.poll(status).toBe(401)
})

test('a wrong password is shown to the owner of the account', async ({ page }) => {
  const { url, email } = server()
  const response = await send('/api/app/v1/sign-in', {
    headers: { 'Content-Type': 'application/json', Origin: url },
    body: JSON.stringify({ email, password: 'wrong horse battery' }),
  })
  expect(response.ok).toBe(false)
  await expect(async () => {
    await page.goto('/profile/security') // the server records the attempt after its response
    await expect(page.getByText('This browser')).toBeVisible()
    await expect(page.getByRole('region', { name: 'Wrong passwords' }).getByRole('listitem').first()).toContainText(
      '127.0.0.1',
    )
  }).toPass()
})

test('the account of a workspace’s last owner is not deleted, and the page says why', async ({ page }) => {
  await page.goto('/profile')
  await page.getByRole('button', { name: 'Delete account…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete your account?' })
  await expect(dialog.getByRole('button', { name: 'Delete account' })).toBeDisabled()
  await dialog.getByRole('textbox').fill(server().email)
  await dialog.getByRole('button', { name: 'Delete account' }).click()
  await expect(dialog.getByRole('alert')).toContainText('last owner')
})

test('a picture is shown to others on boards until it is removed, with undo', async ({ page, world, browser }) => {
  const grace = await signUpPerson(browser, world)
  const cardId = await world.post('/cards', {
    listId: world.lists['To do'],
    title: 'Portrait',
    assignees: [grace.id],
  })
  const own = grace.page.getByRole('main').locator('img')
  const choose = (name: string, mimeType: string, buffer: Buffer) =>
    grace.page.getByLabel('Picture', { exact: true }).setInputFiles({ name, mimeType, buffer })

  await grace.page.goto('/profile')
  await expect(grace.page.getByRole('button', { name: 'Choose picture…' })).toBeVisible()
  await choose('notes.txt', 'text/plain', Buffer.from('Notes'))
  await expect(grace.page.getByRole('alert')).toHaveText('Choose a picture: a JPEG, PNG, GIF or WebP file.')
  await choose('page.png', 'image/png', Buffer.from('<!doctype html><script>alert(1)</script>'))
  await expect(grace.page.getByRole('alert')).toContainText('The file is not a picture.')
  await expect(own).toHaveCount(0)
  await choose('me.png', 'image/png', png(600, 400))
  await expect(own).toHaveJSProperty('naturalWidth', 256)
  await expect(own).toHaveCSS('opacity', '1')
  expect(await axe(grace.page)).toEqual([])

  const requested: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith('/avatar')) requested.push(request.url())
  })
  await page.goto(`/boards/${world.boardId}`)
  const tile = page.locator(`[data-card="${cardId}"]`).getByRole('img', { name: grace.name })
  await expect(tile.locator('img')).toHaveJSProperty('naturalWidth', 256)
  expect(requested).toHaveLength(1) // nobody else on the board has a picture

  await grace.page.getByRole('button', { name: 'Remove picture' }).press('Enter')
  await expect(own).toHaveCount(0)
  await expect(grace.page.getByRole('button', { name: 'Choose picture…' })).toBeFocused()
  await undo(grace.page)
  await expect(own).toHaveJSProperty('naturalWidth', 256)
  await grace.page.getByRole('button', { name: 'Remove picture' }).click()
  await expect(grace.page.getByRole('button', { name: 'Choose picture…' })).toBeVisible()
  await page.reload()
  await expect(tile).toHaveText(/^G/)
  await expect(tile.locator('img')).toHaveCount(0)
  await grace.close()
})
