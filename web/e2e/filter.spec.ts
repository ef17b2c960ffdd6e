import { axe, expect, saved, test, titles } from './fixtures'

test('the filter of a board reads operators, phrases and negations', async ({ page, world }) => {
  await world
    .post(`/boards/${world.boardId}/labels`, { name: 'Bug', color: 'red' })
    .then((label) => world.post('/cards', { listId: world.lists['To do'], title: 'One more time', labels: [label] }))
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('One more time')).toBeVisible()
  await page.keyboard.press('f')
  const field = page.getByRole('searchbox', { name: 'Words in the title' })
  const finds = async (text: string, found: string[]) => {
    await field.fill(text)
    await expect.poll(() => titles(page, 'To do'), { message: text }).toEqual(found)
  }
  await finds('#bug', ['One more time'])
  await finds('one -#bug', ['One'])
  await finds('"more time"', ['One more time'])
  await finds('-one is:open', ['Two', 'Three'])
  await finds('is:done', [])
  await finds('two due:sometime', ['Two'])
  await expect(page.getByText('Not understood: due:sometime')).toBeVisible()
  expect(await axe(page)).toEqual([])
  await page.reload()
  await expect.poll(() => titles(page, 'To do')).toEqual(['Two'])
})

test('an empty board begins with the usual three lists in one click', async ({ page, world }) => {
  const board = await world.post('/boards', { workspaceId: world.workspaceId, name: 'Fresh' })
  await page.goto(`/boards/${board}`)
  await page.getByRole('button', { name: 'To do · Doing · Done' }).click()
  const lists = () => page.locator('[data-list]').evaluateAll((all) => all.map((c) => c.getAttribute('aria-label')))
  await expect.poll(lists).toEqual(['To do', 'Doing', 'Done'])
  await saved(page)
  await page.reload()
  await expect.poll(lists).toEqual(['To do', 'Doing', 'Done'])
})
