import { callApi, axe, expect, test as base, undo, type World } from './fixtures'

type SearchWorld = World & { word: string }

/** A board with cards that are assigned to the demo person and whose titles contain a unique word. */
const test = base.extend<{ data: SearchWorld }>({
  data: async ({ page, world }, use) => {
    const { id } = (await callApi<{ user: { id: string } }>(page, 'GET', '/app/v1/session')).user
    const word = `w${crypto.randomUUID().slice(0, 8)}`
    await callApi(page, 'PATCH', `/public/v1/boards/${world.boardId}`, { name: `Board ${word}` })
    const bug = await world.post(`/boards/${world.boardId}/labels`, { name: `Bug ${word}`, color: 'red' })
    for (const [title, days] of [
      ['Late', -2],
      ['Soon', 3],
      ['Whenever', null],
    ] as const) {
      const card = await world.post('/cards', { listId: world.lists['To do'], title: `${title} ${word}` })
      await callApi(page, 'PATCH', `/public/v1/cards/${card}/assignees`, { add: [id] })
      if (title === 'Late') await callApi(page, 'PATCH', `/public/v1/cards/${card}/labels`, { add: [bug] })
      if (days === null) continue
      const dueDate = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
      await callApi(page, 'PUT', `/public/v1/cards/${card}/due`, { dueDate })
    }
    await use({ ...world, word })
  },
})

test('operators are completed, shown as chips, and removed', async ({ page, data }) => {
  await page.goto(`/search?workspace=${data.workspaceId}`)
  const field = page.getByRole('combobox', { name: 'Search all boards' })
  const completions = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
  await expect(field).toBeFocused()
  await page.keyboard.type('lab')
  await expect(completions.first()).toContainText('label:')
  await page.keyboard.press('Tab')
  await page.keyboard.type('bug')
  await expect(completions.first()).toContainText(data.word)
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(field).toHaveValue(`label:"Bug ${data.word}" `)
  await page.keyboard.type('is:overdue')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/q=label/)
  const board = page.getByRole('region', { name: `Board ${data.word}` })
  await expect(board.locator('a[data-card]')).toHaveCount(1)
  expect(await axe(page)).toEqual([])
  const chips = page.getByRole('list', { name: 'Search terms' })
  await expect(chips.getByRole('listitem')).toHaveCount(2)
  await chips.getByRole('button', { name: /^Remove label/ }).click()
  await expect(field).toHaveValue('is:overdue')
  await expect(chips.getByRole('listitem')).toHaveCount(1)
})

test('arrow keys move through the results, and Enter opens a card', async ({ page, data }) => {
  await page.goto(`/search?q=${data.word}`)
  await expect(page.locator('a[data-card]')).toHaveCount(3)
  await page.keyboard.press('ArrowDown')
  await expect(page.locator('a[data-card]').first()).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect(page.getByRole('combobox', { name: 'Search all boards' })).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/cards\/crd_/)
})

test('an invalid search shows the position of the error and the allowed values', async ({ page, data }) => {
  await page.goto(`/search?q=${data.word} due:sometime&workspace=${data.workspaceId}`)
  const alert = page.getByRole('alert')
  await expect(alert).toContainText('due:sometime is not valid: due takes')
  await expect(alert).not.toContainText('offset')
  await expect(page.getByRole('region', { name: 'Examples' })).toBeVisible()
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'due:overdue', exact: true }).click()
  await expect(page.getByRole('combobox', { name: 'Search all boards' })).toHaveValue(`${data.word} due:overdue`)
  await expect(page.locator('a[data-card]')).toHaveText([/Late/])
})

test('no error is shown while a word is being completed', async ({ page, data }) => {
  await page.goto(`/search?workspace=${data.workspaceId}`)
  const noResults = page.getByRole('heading', { name: 'No cards found' })
  const responded = page.waitForResponse((r) => r.url().includes('/search?') && r.url().includes('zeppelin'))
  await page.getByRole('combobox', { name: 'Search all boards' }).pressSequentially('zeppelin d')
  await expect(page.getByRole('listbox', { name: 'Suggestions' })).toBeVisible()
  await responded
  await expect(noResults).toBeHidden()
  await page.keyboard.press('Escape')
  await expect(noResults).toBeVisible()
})

test('a broken filter in the list is edited in place', async ({ page, data }) => {
  const body = { workspaceId: data.workspaceId, name: `Broken ${data.word}` }
  await data.post('/saved-filters', { ...body, query: 'is:open list:lst_01jb2m3n4p5q6r7s8t9v0w1x2y' })
  await page.goto('/search')
  const row = page.getByRole('listitem').filter({ hasText: body.name })
  await expect(row).toContainText('list:(deleted)')
  await expect(row).toContainText('The list this filter refers to was deleted. Edit or delete the filter.')
  await expect(row.getByRole('link')).toHaveCount(0)
  await row.getByRole('button', { name: `Edit ${body.name}` }).click()
  await page.getByRole('textbox', { name: 'Query' }).fill(`is:open ${data.word}`)
  await page.keyboard.press('Enter')
  await expect(row.getByRole('link', { name: `Open as table for ${body.name}` })).toBeVisible()
})

test('a search is saved as a filter and used again', async ({ page, data }) => {
  await page.goto(`/search?q=is:open&workspace=${data.workspaceId}`)
  await page.getByRole('button', { name: 'Save as filter' }).click()
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
  await page.keyboard.type(`Filter ${data.word}`)
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect(page.getByText(`“Filter ${data.word}” saved`)).toBeVisible()
  await page.getByRole('button', { name: 'Clear search' }).click()
  await page.getByRole('button', { name: `Filter ${data.word}`, exact: true }).click()
  await expect(page.getByRole('combobox', { name: 'Search all boards' })).toHaveValue('is:open')
})

test('my cards are grouped by due date; a card is marked done, and undo reverts it', async ({ page, data }) => {
  await page.goto('/my-cards')
  await page.getByLabel('Workspace', { exact: true }).selectOption(data.workspaceId)
  const group = (name: string) => page.getByRole('region', { name })
  await expect(group('Overdue').locator('a[data-card]')).toHaveText([/Late/])
  await expect(group('This week').locator('a[data-card]')).toHaveText([/Soon/])
  await expect(group('No date').locator('a[data-card]')).toHaveText([/Whenever/])
  expect(await axe(page)).toEqual([])
  const late = page.getByRole('checkbox', { name: `Mark Late ${data.word} as done` })
  await late.check()
  await undo(page)
  await expect(late).not.toBeChecked()
})

test.describe('while a search is typed', () => {
  test.use({ failOnFailedRequests: true })

  test('a half-typed due date is not sent', async ({ page, data, expectedFailures }) => {
    // The page reads the saved filters of all workspaces, and other tests may delete their workspaces meanwhile.
    expectedFailures.push(/404.*saved-filters/)
    await page.clock.install()
    await page.goto(`/search?workspace=${data.workspaceId}`)
    const queries: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/search')) queries.push(searchParams.get('q') ?? '')
    })
    const field = page.getByRole('combobox', { name: 'Search all boards' })
    await field.focus()
    for (const letter of `${data.word} due:overdue`) {
      await page.keyboard.type(letter)
      await page.clock.runFor(330) // longer than the page's delay
    }
    await expect(page.getByRole('link', { name: `Late ${data.word}` })).toBeVisible()
    await expect(page.getByRole('link', { name: `Soon ${data.word}` })).toBeHidden()
    expect(queries.filter((q) => q.includes('due:'))).toEqual([`${data.word} due:overdue`])
    await expect(field).toHaveValue(`${data.word} due:overdue`)
  })
})
