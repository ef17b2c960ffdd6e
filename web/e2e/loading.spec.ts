// A page whose requests have no response yet.
import { expect, hold, test } from './fixtures'

test('the page shows its shell while the session is loading', async ({ page, world }) => {
  const release = await hold(page, '**/api/app/v1/session/current')
  for (const path of ['/', `/boards/${world.boardId}`]) {
    await page.goto(path, { waitUntil: 'commit' })
    await expect(page.locator('.shell-skeleton')).toBeVisible()
    await expect(page.getByRole('status', { name: 'Loading' })).toBeVisible()
  }
  release()
  await expect(page.getByRole('region', { name: 'To do' })).toBeVisible()
  await expect(page.locator('.shell-skeleton')).toHaveCount(0)
})
