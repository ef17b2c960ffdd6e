import { expect, linkInEmail, send, server, test, waitUntilLoaded } from './fixtures'

test.describe('signed out', () => {
  test.use({ signedIn: false })

  test('signing in returns to the requested page', async ({ page }) => {
    const { email, password } = server()
    await page.goto('/profile')
    await expect(page).toHaveURL('/sign-in?next=%2Fprofile')
    await expect(page.getByText('Sign in to continue.', { exact: true })).toBeVisible()
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill('not this one')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('alert')).toContainText('password')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Show password' }).click()
    await expect(page.getByLabel('Password')).toHaveAttribute('type', 'text')
    await page.getByRole('button', { name: 'Hide password' }).click()
    await expect(page.getByLabel('Password')).toHaveAttribute('type', 'password')
    await page.getByLabel('Password').press('Enter')
    await expect(page).toHaveURL('/profile')
    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    await page.reload()
    await expect(page.getByText('You were signed out. Sign in to continue.')).toBeVisible()
    await page.context().addCookies(cookies)
    await page.goto('/profile')
    await page.getByRole('button', { name: 'Demo Person' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page.getByRole('heading', { name: 'Sign in to Cardwall' })).toBeVisible()
    await expect(page.getByText('You were signed out.')).toHaveCount(0)
  })

  test.describe('in normal use', () => {
    test.use({ failOnFailedRequests: true })

    test('pages log no errors before the sign-in', async ({ page }) => {
      for (const path of ['/sign-in', '/boards/brd_01jb2m3n4p5q6r7s8t9v0w1x2y', '/']) {
        await page.goto(path)
        await expect(page.getByRole('heading', { name: 'Sign in to Cardwall' })).toBeVisible()
        await waitUntilLoaded(page)
      }
    })
  })

  test('a reset link can be sent again after a pause, or to another address', async ({ page }) => {
    await page.clock.install()
    await page.goto('/sign-in')
    await page.getByRole('link', { name: 'Forgot password?' }).click()
    await expect(page.getByRole('heading', { name: 'Reset your password' })).toBeVisible() // both pages ask for the address
    await page.getByLabel('Email address').fill('nobody@example.com')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
    const resend = page.getByRole('button', { name: /^Send again/ })
    await expect(resend).toBeDisabled()
    await page.clock.runFor(31_000)
    await expect(resend).toBeEnabled()
    const responded = page.waitForResponse('**/password-reset')
    await resend.click()
    expect((await responded).ok()).toBe(true)
    await expect(resend).toBeDisabled()
    await page.getByRole('button', { name: 'Use another address' }).click()
    await expect(page.getByLabel('Email address')).toHaveValue('nobody@example.com')
  })

  test('a password reset lists the tokens that still have access, and revokes them', async ({ page }) => {
    const { url } = server()
    const email = `reset-${crypto.randomUUID().slice(0, 8)}@example.com`
    let cookie = ''
    const post = async (path: string, body: object) => {
      const response = await send(`/api/app/v1${path}`, {
        headers: { 'Content-Type': 'application/json', Origin: url, Cookie: cookie },
        body: JSON.stringify(body),
      })
      expect(response.ok, await response.clone().text()).toBeTruthy()
      cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    }
    await post('/sign-up', { email, name: 'Grace', password: 'correct horse battery', timeZone: 'Europe/Berlin' })
    await post('/verify-email', { secret: (await linkInEmail(`<${email}>`, /\/verify#\w+/)).split('#')[1] })
    for (const name of ['Deploy', 'Backup', 'Report']) await post('/tokens', { name, scopes: ['read'] })
    await post('/password-reset', { email })
    await page.goto(await linkInEmail(`<${email}>`, /\/reset#\w+/))
    await page.getByLabel('New password').fill('Password123!')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('alert')).toContainText('most common passwords')
    await page.getByLabel('New password').fill('tulip harbor 47 sky')
    await page.keyboard.press('Enter')
    const access = page.getByRole('list', { name: 'Access to your account' })
    await expect(access.getByRole('listitem')).toHaveCount(3)
    await page.getByRole('button', { name: 'Revoke Backup' }).click()
    await expect(access.getByRole('listitem')).toHaveCount(2)
    await page.getByRole('button', { name: 'Remove all' }).click()
    await expect(access.getByRole('listitem')).toHaveCount(0)
    await page.getByRole('button', { name: 'Continue' }).click()
    await expect(page).toHaveURL('/')
    await page.goto('/profile/tokens')
    await expect(page.getByText('No tokens yet')).toBeVisible()

    await page.goto('/profile/security')
    await page.getByLabel('Current password').fill('correct horse battery')
    await page.getByLabel('New password').fill('another tulip harbor')
    await page.keyboard.press('Enter')
    await expect(page.getByText('The current password is wrong.')).toBeVisible()
    await page.getByLabel('Current password').fill('tulip harbor 47 sky')
    await page.keyboard.press('Enter')
    await expect(page.getByText('Password changed.')).toBeVisible()
  })
})
