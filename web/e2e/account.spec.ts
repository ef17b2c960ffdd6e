import { expect, server, test } from './fixtures'

test.describe('signed out', () => {
  test.use({ signedIn: false })

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
