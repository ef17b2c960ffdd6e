import { expect, waitUntilSaved, test, titles, undo } from './fixtures'

test.beforeEach(async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByRole('region', { name: 'To do' }).getByText('Three')).toBeVisible()
})

test('undo restores a deleted comment; without undo it stays deleted', async ({ page, world }) => {
  for (const text of ['First words', 'Second words']) await world.post(`/cards/${world.cards.One}/comments`, { text })
  await page.goto(`/cards/${world.cards.One}`)
  const comments = page.getByRole('article')
  await expect(comments).toHaveCount(2)
  await comments.filter({ hasText: 'First' }).getByRole('button', { name: 'Delete' }).click()
  await expect(comments).toHaveCount(1)
  await undo(page)
  await expect(comments).toHaveCount(2)
  await comments.filter({ hasText: 'Second' }).getByRole('button', { name: 'Delete' }).click()
  await expect(comments).toHaveCount(1)
  const sent = page.waitForResponse((r) => r.request().method() === 'DELETE' && r.ok())
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByRole('link', { name: 'Home' }).click() // leaving the board sends the deletion immediately
  await sent
  await page.goto(`/cards/${world.cards.One}`)
  await expect(comments).toHaveText([/First words/])
})

test('closing the page sends pending deletions', async ({ page, world, context }) => {
  await world.post(`/cards/${world.cards.One}/comments`, { text: 'Deleted' })
  await page.goto(`/cards/${world.cards.One}`)
  await page.getByRole('article').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('article')).toHaveCount(0)
  const otherPage = await context.newPage()
  await page.close({ runBeforeUnload: true })
  await expect
    .poll(
      async () => {
        await otherPage.goto(`/cards/${world.cards.One}`)
        await expect(otherPage.getByRole('heading', { name: 'Comments and activity' })).toBeVisible()
        await otherPage.waitForTimeout(300)
        return otherPage.getByRole('article').count()
      },
      { timeout: 20_000 },
    )
    .toBe(0)
})

test('checklists and their items are deleted and restored', async ({ page, world }) => {
  await world.post(`/cards/${world.cards.One}/checklists`, { title: 'Steps', items: ['One step', 'Two steps'] })
  await page.goto(`/cards/${world.cards.One}`)
  await page.getByRole('button', { name: 'Delete One step' }).click({ force: true })
  await expect(page.getByRole('checkbox', { name: 'One step' })).toHaveCount(0)
  await undo(page)
  await expect(page.getByRole('checkbox', { name: 'One step' })).toBeVisible()
  await page.getByRole('button', { name: 'Actions for Steps' }).click()
  await page.getByRole('menuitem', { name: 'Delete checklist' }).click()
  await expect(page.getByRole('region', { name: 'Checklist Steps' })).toHaveCount(0)
  await undo(page)
  await expect(page.getByRole('checkbox', { name: 'Two steps' })).toBeVisible()
})

test('Ctrl+Z undoes each keyboard action', async ({ page, world }) => {
  const before = { todo: ['One', 'Two', 'Three'], doing: ['Four'] }
  const board = async () => ({ todo: await titles(page, 'To do'), doing: await titles(page, 'Doing') })
  await page.locator(`#card-${world.cards.One}`).focus()
  for (const key of ['.', 'Alt+Shift+ArrowDown', 'Delete', 'Space']) {
    await page.keyboard.press(key)
    await expect.poll(board, key).not.toEqual(before)
    await page.keyboard.press('Control+z')
    await expect.poll(board, `${key}, undone`).toEqual(before)
    await page.locator(`#card-${world.cards.One}`).focus()
  }
  const avatars = page.locator(`[data-card="${world.cards.One}"] .people .avatar`)
  await page.keyboard.press('i')
  await expect(avatars).toHaveCount(1)
  await page.keyboard.press('Control+z')
  await expect(avatars).toHaveCount(0)
  await page.locator(`#card-${world.cards.One}`).focus()
  await page.keyboard.press('e')
  await page.keyboard.type('Renamed')
  await page.keyboard.press('Enter')
  await expect.poll(() => titles(page, 'To do')).toEqual(['Renamed', 'Two', 'Three'])
  await page.keyboard.press('Control+z')
  await expect.poll(board).toEqual(before)
  await page.keyboard.press('c')
  await page.keyboard.type('Made')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await waitUntilSaved(page)
  await page.keyboard.press('Control+z')
  await expect.poll(board).toEqual(before)
})

test('undo restores a deleted label on its cards', async ({ page, world }) => {
  const bug = await world.post(`/boards/${world.boardId}/labels`, { name: 'Bug', color: 'red' })
  await world.post('/cards', { listId: world.lists.Done, title: 'Broken', labels: [bug] })
  await page.reload()
  const chip = page.getByRole('region', { name: 'Done' }).locator('.labels')
  await expect(chip).toContainText('Bug')
  await page.getByRole('region', { name: 'Done' }).getByRole('link').focus()
  await page.keyboard.press('l')
  await page
    .getByRole('button', { name: /Edit labels|Edit/ })
    .first()
    .click()
  await page.getByRole('button', { name: /Bug/ }).last().click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect(chip).toHaveCount(0)
  await page.keyboard.press('Escape')
  await undo(page)
  await expect(chip).toContainText('Bug')
})
