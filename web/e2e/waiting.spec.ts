// What is shown before the server has answered.
import { expect, hold, test } from './fixtures'

test('the page has its shell while the session is asked for', async ({ page, world }) => {
  const go = await hold(page, '**/api/app/v1/session/current')
  for (const path of ['/', `/boards/${world.boardId}`]) {
    await page.goto(path, { waitUntil: 'commit' })
    await expect(page.locator('.shell-skeleton')).toBeVisible()
    await expect(page.getByRole('status', { name: 'Loading' })).toBeVisible()
  }
  go()
  await expect(page.getByRole('region', { name: 'To do' })).toBeVisible()
  await expect(page.locator('.shell-skeleton')).toHaveCount(0)
})
