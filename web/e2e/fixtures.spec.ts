// Tests of the fixtures: the errors that must fail every browser test do so.
import { expect, test } from './fixtures'

const addBlockedImage = () => {
  const image = document.createElement('img')
  image.src = 'http://127.0.0.1:9/pixel.png'
  document.body.append(image)
}

test('a violation of the content security policy is recorded in every browser context', async ({
  page,
  newSignedOutPage,
  pageErrors,
}) => {
  for (const target of [page, await newSignedOutPage()]) {
    await target.goto('/nowhere')
    await target.evaluate(addBlockedImage)
    await expect.poll(() => pageErrors.join('\n')).toContain('CSP: img-src http://127.0.0.1:9')
    pageErrors.length = 0
  }
})

test('a violation of the content security policy fails a test', async ({ page, pageErrors }) => {
  test.fail()
  await page.goto('/nowhere')
  await page.evaluate(addBlockedImage)
  await expect.poll(() => pageErrors.length).toBeGreaterThan(0)
})

test.describe('a test with failOnFailedRequests', () => {
  test.use({ failOnFailedRequests: true })
  const failingRequest = () => fetch('/api/public/v1/boards/brd_none').then(() => undefined)

  test('fails if a request fails', async ({ page, pageErrors }) => {
    test.fail()
    await page.goto('/notifications')
    await page.evaluate(failingRequest)
    await expect.poll(() => pageErrors.length).toBeGreaterThan(0)
  })

  test('can expect a failed request', async ({ page, pageErrors, expectedFailures }) => {
    expectedFailures.push(/404.*brd_none/)
    await page.goto('/notifications')
    await page.evaluate(failingRequest)
    await expect.poll(() => pageErrors.length).toBeGreaterThan(0)
  })
})
