import { largestDashboard } from '../../perf/bench/web/largestResponses.mjs'
import { callApi, axe, expect, shortenPauses, waitForStream, tabTo, test, waitUntilLoaded } from './fixtures'

const dashboardPath = (world: { workspaceId: string }) => `/workspaces/${world.workspaceId}/dashboard`

test('every figure and bar links to the cards that it counts', async ({ page, world }) => {
  const bug = await world.post(`/boards/${world.boardId}/labels`, { name: 'Big bug', color: 'red' })
  const five = await world.post('/cards', { listId: world.lists.Doing, title: 'Five', labels: [bug] })
  await callApi(page, 'PUT', `/public/v1/cards/${five}/due`, { dueDate: '2020-03-04' })
  await page.goto(dashboardPath(world))
  const figures = page.getByRole('list', { name: 'Figures' })
  const results = page.locator('a[data-card]')
  await expect(figures.getByRole('link')).toHaveText([
    /^Open\s*5/,
    /^Overdue\s*1/,
    /^Due in 7 days\s*0/,
    /^Unassigned\s*5/,
    /^No due date\s*4/,
    /^Done\s*0/,
  ])
  expect(await axe(page)).toEqual([])
  const links = [
    [figures.getByRole('link', { name: /^Overdue/ }), 1],
    [figures.getByRole('link', { name: /^No due date/ }), 4],
    [page.getByRole('link', { name: /^Plan 5 open 1 overdue$/ }), 5],
    [page.getByRole('link', { name: /^To do 3 open$/ }), 3],
    [page.getByRole('link', { name: /^Big bug 1 open 1 overdue$/ }), 1],
    [page.getByRole('link', { name: /: 5 cards created$/ }), 5],
  ] as const
  for (const [link, count] of links) {
    await link.click()
    await expect(page).toHaveURL(/\/search\?q=/)
    await expect(results).toHaveCount(count)
    await page.goBack()
  }
})

test('each chart can be shown as a table', async ({ page, world }) => {
  await page.goto(dashboardPath(world))
  await page.getByRole('button', { name: 'Table of By list' }).click()
  const rows = page.getByRole('table', { name: 'By list' }).getByRole('row')
  await expect(rows).toHaveText([
    /^List\s*Open\s*Overdue\s*Done$/,
    /^To do\s*3\s*0\s*0$/,
    /^Doing\s*1\s*0\s*0$/,
    /^Done\s*0\s*0\s*0$/,
  ])
  await page.getByRole('button', { name: 'Table of Created and completed' }).click()
  await expect(page.getByRole('table', { name: 'Cards created and completed by week' }).getByRole('row')).toHaveCount(
    13,
  )
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Chart of By list' }).click()
  await expect(page.getByRole('table', { name: 'By list' })).toHaveCount(0)
})

test('by keyboard only, a column of a chart is reached and opened', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Three')).toBeVisible()
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await expect(page).toHaveURL(dashboardPath(world))
  await tabTo(page.locator('[data-column="0-0"]'))
  await page.keyboard.press('End')
  await expect(page.locator('[data-column="11-0"]')).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await expect(page.locator('[data-column="11-1"]')).toBeFocused()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/search\?q=created/)
  await expect(page.locator('a[data-card]')).toHaveCount(4)
  await page.keyboard.press('Escape')
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await expect(page).toHaveURL(`/workspaces/${world.workspaceId}/calendar`)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Search boards, cards and pages' })).toBeFocused()
  await page.keyboard.type('dashboard')
  await expect(page.getByRole('option', { name: /^Dashboard/ }).first()).toBeVisible()
})

test('the palette opens a card of another board over that board', async ({ page, world }) => {
  // The palette searches all boards of the user, and so those of earlier tests too.
  const word = `w${crypto.randomUUID().slice(0, 8)}`
  const other = await world.post('/boards', { workspaceId: world.workspaceId, name: 'Elsewhere' })
  const list = await world.post(`/boards/${other}/lists`, { name: 'Here' })
  await world.post('/cards', { listId: list, title: `Destination ${word}` })
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Search boards, cards and pages' })).toBeFocused()
  await page.keyboard.type(word)
  await page.getByRole('option', { name: new RegExp(word) }).click()
  await expect(page.getByRole('dialog', { name: new RegExp(word) })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(`/boards/${other}`)
  await expect(page.getByRole('region', { name: 'Here' })).toBeVisible()
})

test('figures follow changes by other people', async ({ page, world }) => {
  const stream = waitForStream(page, world.boardId)
  await shortenPauses(page)
  await page.goto(dashboardPath(world))
  const open = page.getByRole('list', { name: 'Figures' }).getByRole('link', { name: /^Open/ })
  await expect(open).toHaveText(/^Open\s*4/)
  await stream
  await world.post('/cards', { listId: world.lists.Done, title: 'From elsewhere' })
  await expect(open).toHaveText(/^Open\s*5/, { timeout: 20_000 })
})

test('an empty board shows no figures until it has a card', async ({ page, world }) => {
  const { workspaceId } = world
  await callApi(page, 'DELETE', `/public/v1/boards/${world.boardId}`)
  const board = await world.post('/boards', { workspaceId, name: 'First steps' })
  const list = await world.post(`/boards/${board}/lists`, { name: 'To do' })
  await page.goto(dashboardPath(world))
  await expect(page.getByRole('heading', { name: 'No data yet' })).toBeVisible()
  await expect(page.getByRole('list', { name: 'Figures' })).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Open First steps' })).toHaveAttribute('href', `/boards/${board}`)
  expect(await axe(page)).toEqual([])
  await world.post('/cards', { listId: list, title: 'The first' })
  await page.reload()
  await expect(page.getByRole('region', { name: 'Created and completed' })).toBeVisible()
})

test('a dashboard of 50,000 cards shows all that its response contains, after one request', async ({ page, world }) => {
  let unknownFields: string[] | undefined
  let requests = 0
  await page.route('**/api/public/v1/workspaces/*/dashboard?*', async (route) => {
    requests++
    const response = await route.fetch()
    const { data } = (await response.json()) as { data: Record<string, unknown> }
    const largest = largestDashboard(data)
    // The generated response must not have fields that the server's response lacks.
    unknownFields = Object.keys(largest).filter((key) => !(key in data))
    await route.fulfill({ response, json: { data: largest } })
  })
  await page.goto(dashboardPath(world))
  await expect(page.getByRole('link', { name: /^Open\s*41,300/ })).toBeVisible()
  await expect(page.locator('[data-column]')).toHaveCount(24)
  for (const chart of ['By board', 'By list', 'By person', 'By label']) {
    await expect(page.getByRole('list', { name: chart }).getByRole('listitem')).toHaveCount(11)
  }
  expect(unknownFields).toEqual([])
  await waitUntilLoaded(page)
  expect(requests).toBe(1)
})
