import { expect, test } from './fixtures'

test('a board of 1,000 cards mounts those that are near, and more by scrolling', async ({ page, world }) => {
  test.setTimeout(120_000)
  const lists: string[] = []
  for (let n = 0; n < 7; n++) lists.push(await world.post(`/boards/${world.boardId}/lists`, { name: `List ${n}` }))
  for (const listId of lists) {
    for (let n = 0; n < 140; n += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => world.post('/cards', { listId, title: `Card ${n + i}` })))
    }
  }
  await page.goto(`/boards/${world.boardId}`)
  const list = page.getByRole('region', { name: 'List 0' })
  await expect(list.getByText('Card 0', { exact: true })).toBeVisible()
  await expect(list.locator('header')).toContainText('140')
  expect(await page.locator('[data-card]').count()).toBeLessThan(260)
  await list.locator('.cards').evaluate((node) => node.scrollTo(0, node.scrollHeight))
  await expect.poll(() => list.locator('[data-card]').count()).toBeGreaterThan(30)
})
