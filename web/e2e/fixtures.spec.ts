// Tests of the fixtures: everything that should fail every browser test really does.
import { expect, test } from './fixtures'

const plant = () => {
  const script = document.createElement('img')
  script.src = 'http://127.0.0.1:9/pixel.png'
  document.body.append(script)
}

test('a violation of the content security policy is recorded, in another browser too', async ({
  page,
  newSignedOutPage,
  pageErrors,
}) => {
  for (const where of [page, await newSignedOutPage()]) {
    await where.goto('/nowhere')
    await where.evaluate(plant)
    await expect.poll(() => pageErrors.join('\n')).toContain('CSP: img-src http://127.0.0.1:9')
    pageErrors.length = 0
  }
})

test('a violation of the content security policy fails a test', async ({ page, pageErrors }) => {
  test.fail()
  await page.goto('/nowhere')
  await page.evaluate(plant)
  await expect.poll(() => pageErrors.length).toBeGreaterThan(0)
})

test.describe('a quiet test', () => {
  test.use({ quiet: true })
  const failingRequest = () => fetch('/api/public/v1/boards/brd_none').then(() => undefined)

  test('fails if a request fails', async ({ page, pageErrors }) => {
    test.fail()
    await page.goto('/notifications')
    await page.evaluate(failingRequest)
    await expect.poll(() => pageErrors.length).toBeGreaterThan(0)
  })

  test('can expect a failure', async ({ page, pageErrors, expected }) => {
    expected.push(/404.*brd_none/)
    await page.goto('/notifications')
    await page.evaluate(failingRequest)
    await expect.poll(() => pageErrors.length).toBeGreaterThan(0)
  })
})
