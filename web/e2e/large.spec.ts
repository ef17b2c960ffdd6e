import { expect, importBoard, test } from './fixtures'

test('a board of 1,000 cards renders the cards near the viewport, and more on scrolling', async ({ page, world }) => {
  const cards = Array.from({ length: 143 }, (_, n) => `Card ${n}`)
  const lists = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`List ${n}`, cards]))
  const boardId = await importBoard(page, world.workspaceId, lists)
  await page.goto(`/boards/${boardId}`)
  const list = page.getByRole('region', { name: 'List 0' })
  await expect(list.getByText('Card 0', { exact: true })).toBeVisible()
  await expect(list.locator('header')).toContainText('143')
  await expect.poll(() => list.locator('[data-card]').count(), 'cards of the first page').toBeGreaterThanOrEqual(25)
  expect(await page.locator('[data-card]').count()).toBeLessThan(260)
  await list.locator('.cards').evaluate((node) => node.scrollTo(0, node.scrollHeight))
  await expect.poll(() => list.locator('[data-card]').count()).toBeGreaterThanOrEqual(50)
})

test('a board of 500 lists renders the lists in view, and the last list when it gets the focus', async ({
  page,
  world,
}) => {
  const lists: Record<string, string[]> = { Near: ['Here'] }
  for (let n = 1; n < 499; n++) lists[`List ${n}`] = []
  lists.Last = ['Far away']
  const boardId = await importBoard(page, world.workspaceId, lists)
  await page.goto(`/boards/${boardId}`)
  await expect(page.getByText('Here', { exact: true })).toBeVisible()
  await expect(page.locator('[data-list]')).toHaveCount(500)
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
  await page.keyboard.press('j')
  await page.keyboard.press('ArrowRight')
  await expect(page.getByText('Far away')).toBeInViewport()
  await expect(page.locator(':focus')).toContainText('Far away')
  await page.getByRole('group', { name: 'Lists' }).evaluate((node) => node.scrollTo(0, 0))
  await expect(page.getByText('Here', { exact: true })).toBeInViewport()
})
