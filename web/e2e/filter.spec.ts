import { axe, cookiesOf, expect, send, waitUntilSaved, test, titles } from './fixtures'

test('the filter of a board supports operators, phrases and negations', async ({ page, world }) => {
  await world
    .post(`/boards/${world.boardId}/labels`, { name: 'Bug', color: 'red' })
    .then((label) => world.post('/cards', { listId: world.lists['To do'], title: 'One more time', labels: [label] }))
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('One more time')).toBeVisible()
  await page.keyboard.press('f')
  const field = page.getByRole('searchbox', { name: 'Filter text' })
  const expectMatches = async (text: string, cards: string[]) => {
    await field.fill(text)
    await expect.poll(() => titles(page, 'To do'), { message: text }).toEqual(cards)
  }
  await expectMatches('#bug', ['One more time'])
  await expectMatches('one -#bug', ['One'])
  await expectMatches('"more time"', ['One more time'])
  await expectMatches('-one is:open', ['Two', 'Three'])
  await expect(page.getByRole('region', { name: 'To do' }).getByText('2 of 4 cards')).toBeVisible()
  await expectMatches('is:done', [])
  const noMatches = page.getByRole('status').filter({ hasText: 'No cards match.' })
  await expect(noMatches).toHaveCount(1)
  await noMatches.getByRole('button', { name: 'Clear filter' }).click()
  await expect(field).toHaveCount(0)
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two', 'Three', 'One more time'])
  await page.keyboard.press('f')
  await expectMatches('two due:sometime', ['Two'])
  await expect(page.getByRole('alert')).toContainText('due:sometime is not valid')
  expect(await axe(page)).toEqual([])
  await page.reload()
  await expect.poll(() => titles(page, 'To do')).toEqual(['Two'])
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expect(field).toBeFocused()
  await expect(field).toHaveValue('')
  await page.getByRole('button', { name: 'Close filter' }).click()
  await expect(field).toHaveCount(0)
})

test('the filter of a board says what is wrong with a term, in the words of search', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('One', { exact: true })).toBeVisible()
  await page.keyboard.press('f')
  const field = page.getByRole('searchbox', { name: 'Filter text' })
  const alert = page.getByRole('alert')
  const headers = { Cookie: await cookiesOf(page) }
  for (const term of ['due:nope', 'created:nope', 'is:nope', 'no:nope', 'owner:ada', 'label:"x']) {
    const response = await send(`/api/public/v1/search?q=${encodeURIComponent(term)}`, { method: 'GET', headers })
    const { error } = (await response.json()) as { error: { message: string } }
    const [, sentence = error.message] = /^q: (.*) \(at offset \d+\)\.$/.exec(error.message) ?? []
    await field.fill(term)
    await expect(alert).toContainText(`${term} is not valid: ${sentence}.`)
    await expect(field).toHaveAttribute('aria-invalid', 'true')
    await expect(field).toHaveAccessibleDescription(`${term} is not valid: ${sentence}.`)
  }
  await field.fill('member:zzz')
  await expect(alert).toContainText('member:zzz is not valid: no person on this board has that name')
  await expect(page.getByText('No cards match.')).toBeVisible()
  expect(await axe(page)).toEqual([])
  await field.fill('one is:nope')
  await page.getByRole('button', { name: 'is:open', exact: true }).click()
  await expect(field).toHaveValue('one is:open')
  await expect(field).toBeFocused()
  await expect(alert).toHaveCount(0)
  await expect(field).not.toHaveAttribute('aria-invalid')
  await expect.poll(() => titles(page, 'To do')).toEqual(['One'])
})

test('an empty board gets the usual three lists with one click', async ({ page, world }) => {
  const board = await world.post('/boards', { workspaceId: world.workspaceId, name: 'Fresh' })
  await page.goto(`/boards/${board}`)
  await page.getByRole('button', { name: 'To do · Doing · Done' }).click()
  const lists = () => page.locator('[data-list]').evaluateAll((all) => all.map((c) => c.getAttribute('aria-label')))
  await expect.poll(lists).toEqual(['To do', 'Doing', 'Done'])
  await waitUntilSaved(page)
  await page.reload()
  await expect.poll(lists).toEqual(['To do', 'Doing', 'Done'])
})
