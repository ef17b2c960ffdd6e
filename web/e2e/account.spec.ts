import { axe, expect, server, test } from './fixtures'

const look = async (page: import('@playwright/test').Page) => {
  await expect(page.getByRole('heading').first()).toBeVisible()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect(await axe(page)).toEqual([])
  }
}

test.describe('signed out', () => {
  test.use({ signedIn: false })

  for (const path of ['/sign-in', '/sign-up', '/reset', '/reset#secret', '/verify#secret', '/invitation#secret']) {
    test(`axe finds nothing on ${path}`, async ({ page }) => {
      await page.goto(path)
      await look(page)
    })
  }

  test('a person signs in and comes to where they wanted to be', async ({ page }) => {
    const { email, password } = server()
    await page.goto('/profile')
    await expect(page).toHaveURL('/sign-in?next=%2Fprofile')
    await page.getByLabel('E-mail address').fill(email)
    await page.getByLabel('Password').fill('not this one')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('alert')).toContainText('password')
    await page.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL('/profile')
    await page.getByRole('button', { name: 'Demo Person' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page.getByRole('heading', { name: 'Sign in to Cardwall' })).toBeVisible()
  })
})

for (const path of ['/', '/nowhere', '/search', '/my-cards', '/profile']) {
  test(`axe finds nothing on ${path}`, async ({ page }) => {
    await page.goto(path)
    await look(page)
  })
}
