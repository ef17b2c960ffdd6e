import {
  callApi,
  axe,
  nextFrames,
  expect,
  hold,
  inNextFrame,
  waitForStream,
  waitUntilSaved,
  test,
  titles,
  undo,
} from './fixtures'

test.beforeEach(async ({ page, world }) => {
  const stream = waitForStream(page, world.boardId)
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByRole('region', { name: 'To do' }).getByText('Three')).toBeVisible()
  await stream
})

test('cards are added one by one, and several at once from pasted lines', async ({ page }) => {
  let created = 0
  page.on('response', (response) => {
    if (response.url().endsWith('/v1/cards') && response.status() === 201) created++
  })
  await page.keyboard.press('c')
  await page.keyboard.type('Five')
  await page.keyboard.press('Enter')
  await page.keyboard.type('Six')
  await page.keyboard.press('Enter')
  await page.getByLabel('Card title').fill('- Seven\n- Eight\n\n- Nine')
  await expect(page.getByRole('button', { name: 'Add 3 cards' })).toBeVisible()
  await page.keyboard.press('Enter')
  const all = ['One', 'Two', 'Three', 'Five', 'Six', 'Seven', 'Eight', 'Nine']
  await expect.poll(() => titles(page, 'To do')).toEqual(all)
  await expect.poll(() => created, 'cards created on the server').toBe(5)
  await page.reload()
  await expect.poll(() => titles(page, 'To do')).toEqual(all)
})

test('the keyboard moves a card, the focus stays on it, and undo reverts the move', async ({ page, world }) => {
  await page.keyboard.press('j')
  await page.keyboard.press('Alt+Shift+ArrowDown')
  await expect.poll(() => titles(page, 'To do')).toEqual(['Two', 'One', 'Three'])
  await page.keyboard.press('Alt+Shift+ArrowRight')
  await expect.poll(() => titles(page, 'Doing')).toEqual(['Four', 'One'])
  await expect(page.locator(`#card-${world.cards.One}`)).toBeFocused()
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+z')
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two', 'Three'])
})

test('a card is dragged by mouse between two others', async ({ page }) => {
  const from = (await page.getByText('Four', { exact: true }).boundingBox())!
  const to = (await page.getByText('Two', { exact: true }).boundingBox())!
  await page.mouse.move(from.x + 10, from.y + 5)
  await page.mouse.down()
  await page.mouse.move(from.x - 40, from.y + 20, { steps: 4 })
  await page.mouse.move(to.x + 20, to.y - 4, { steps: 8 })
  await nextFrames(page)
  await page.mouse.up()
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Four', 'Two', 'Three'])
  await waitUntilSaved(page)
  await page.reload()
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Four', 'Two', 'Three'])
  await expect(page).toHaveURL(/\/boards\//)
})

test('a list is dragged by mouse', async ({ page }) => {
  const head = (name: string) => page.getByRole('region', { name }).locator('header')
  const from = (await head('Done').boundingBox())!
  const to = (await head('To do').boundingBox())!
  await page.mouse.move(from.x + 150, from.y + 12)
  await page.mouse.down()
  await page.mouse.move(to.x + 30, to.y + 12, { steps: 10 })
  await nextFrames(page)
  await page.mouse.up()
  await expect
    .poll(() => page.locator('[data-list]').evaluateAll((all) => all.map((c) => c.getAttribute('aria-label'))))
    .toEqual(['Done', 'To do', 'Doing'])
})

test('a card opens at its URL, saves while typing, and closes', async ({ page, world }) => {
  await page.getByText('Two', { exact: true }).click()
  await expect(page).toHaveURL(`/cards/${world.cards.Two}`)
  await page.getByRole('button', { name: 'Add a description…' }).click()
  await page.keyboard.type('Some **strong** words')
  await page.getByRole('tab', { name: 'Preview' }).click()
  await expect(page.locator('.prose strong')).toHaveText('strong')
  await page.getByRole('textbox', { name: 'Title' }).fill('Two, renamed')
  await page.getByRole('button', { name: 'Add checklist' }).click()
  await page.getByRole('button', { name: 'Add item' }).click()
  await page.keyboard.type('First step')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.getByRole('checkbox', { name: 'First step' }).check()
  await page.getByLabel('Comment', { exact: true }).fill('Well said')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('article')).toContainText('Well said')
  expect(await axe(page)).toEqual([])
  const storedCard = async () => {
    const path = `/public/v1/cards/${world.cards.Two}`
    const { title, description } = await callApi<{ title: string; description: string }>(page, 'GET', path)
    return { title, description }
  }
  await expect.poll(storedCard).toEqual({ title: 'Two, renamed', description: 'Some **strong** words' })
  await waitUntilSaved(page)
  await page.reload()
  await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('Two, renamed')
  await expect(page.locator('.prose strong')).toHaveText('strong')
  await expect(page.getByRole('checkbox', { name: 'First step' })).toBeChecked()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(`/boards/${world.boardId}`)
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two, renamed', 'Three'])
})

test('cards are selected and archived together, with undo', async ({ page }) => {
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await expect(page.getByText('2 selected')).toBeVisible()
  // The bar is centered on the board, not on the window.
  const middle = ({ x, width }: { x: number; width: number }) => Math.round(x + width / 2)
  const bar = (await page.getByRole('toolbar', { name: 'Actions on selected cards' }).boundingBox())!
  expect(Math.abs(middle(bar) - middle((await page.getByRole('main').boundingBox())!))).toBeLessThanOrEqual(1)
  await page.keyboard.press('Delete')
  await expect.poll(() => titles(page, 'To do')).toEqual(['Three'])
  await undo(page)
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two', 'Three'])
})

test('the card of an open picker is marked, and the help lists the shortcuts', async ({ page, world }) => {
  const tile = page.locator(`[data-card="${world.cards.One}"]`)
  await page.keyboard.press('j')
  await page.keyboard.press('l')
  await expect(page.getByRole('dialog', { name: 'Labels' })).toBeVisible()
  await expect(tile).toHaveClass(/picking/)
  await page.keyboard.press('Escape')
  await expect(tile).not.toHaveClass(/picking/)
  await page.getByRole('button', { name: 'Board menu' }).click()
  await expect(page.getByRole('menuitem', { name: 'Filter cards' })).toHaveCount(0) // the filter has its own button
  await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  for (const group of ['Anywhere', 'On a board', 'On a card', 'In the calendar']) {
    await expect(help.getByRole('heading', { name: group })).toBeVisible()
  }
  await expect(help.getByText('Remove date')).toBeVisible()
})

test('a menu button closes its menu and opens it again immediately', async ({ page }) => {
  const button = page.getByRole('button', { name: 'Board menu' })
  const menu = page.getByRole('menu')
  await button.click()
  await expect(menu).toBeVisible()
  await button.click()
  await expect(menu).toHaveCount(0)
  await button.click()
  await expect(menu).toBeVisible()
  await page.mouse.click(600, 500) // anywhere else
  await button.click()
  await expect(menu).toBeVisible()
})

test('F focuses the filter again', async ({ page }) => {
  const field = page.getByRole('searchbox', { name: 'Filter text' })
  await page.keyboard.press('f')
  await page.keyboard.type('thr')
  await field.blur()
  await page.keyboard.press('f')
  await expect(field).toBeFocused()
  await expect(field).toHaveValue('thr')
})

test('the filter is in the URL', async ({ page, world }) => {
  await page.keyboard.press('f')
  await page.keyboard.type('thr')
  await expect.poll(() => titles(page, 'To do')).toEqual(['Three'])
  await expect(page).toHaveURL(`/boards/${world.boardId}?q=thr`)
  await page.reload()
  await expect.poll(() => titles(page, 'To do')).toEqual(['Three'])
})

test('changes made offline are sent once when the server is back', async ({ page, context }) => {
  await context.setOffline(true)
  await page.keyboard.press('j')
  await page.keyboard.press('Alt+Shift+ArrowRight')
  await page.keyboard.press('c')
  await page.keyboard.type('Made offline')
  await page.keyboard.press('Enter')
  await expect(page.getByText('You are offline.')).toBeVisible()
  await expect.poll(() => titles(page, 'Doing')).toEqual(['One', 'Four', 'Made offline'])
  await context.setOffline(false)
  await expect(page.getByText('You are offline.')).toBeHidden({ timeout: 15_000 })
  await waitUntilSaved(page)
  await page.reload()
  await expect.poll(() => titles(page, 'Doing')).toEqual(['One', 'Four', 'Made offline'])
})

test('changes that wait are sent although the board is closed, and it shows them when it is opened again', async ({
  page,
  world,
}) => {
  await page.route('**/api/**', (route) => (route.request().method() === 'GET' ? route.fallback() : route.abort()))
  await page.keyboard.press('j')
  await page.keyboard.press('Alt+Shift+ArrowRight')
  await expect(page.getByText('1 change is waiting to be saved')).toBeVisible({ timeout: 15_000 })
  const home = page.getByRole('link', { name: 'Home', exact: true })
  const waiting = page.getByText('Your changes will be saved when the connection is restored.')
  await home.click()
  await expect(waiting).toBeVisible()
  await page.goBack()
  await expect.poll(() => titles(page, 'Doing')).toEqual(['One', 'Four'])
  await home.click()
  await expect(waiting).toBeVisible()
  await page.unroute('**/api/**')
  await expect(waiting).toBeHidden({ timeout: 35_000 })
  const card = await callApi<{ listId: string }>(page, 'GET', `/public/v1/cards/${world.cards.One}`)
  expect(card.listId).toBe(world.lists.Doing)
})

test('a rejected change is reverted, and other changes stay', async ({ page }) => {
  await page.route('**/cards/*/move', (route) =>
    route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'The list is full.' } } }),
  )
  await page.keyboard.press('j')
  await page.keyboard.press('Alt+Shift+ArrowRight')
  await page.keyboard.press('Space')
  await expect(page.getByText('The list is full.')).toBeVisible()
  await expect.poll(() => titles(page, 'To do')).toEqual(['Done: One', 'Two', 'Three'])
})

test('changes by other people appear immediately', async ({ page, world }) => {
  await world.post(`/cards/${world.cards.One}/move`, { listId: world.lists.Doing, position: 'top' })
  await world.post('/cards', { listId: world.lists.Done, title: 'From elsewhere' })
  await expect.poll(() => titles(page, 'Doing')).toEqual(['One', 'Four'])
  await expect.poll(() => titles(page, 'Done')).toEqual(['From elsewhere'])
})

test('a change is painted before the server responds', async ({ page, world }) => {
  const release = await hold(page, '**/cards/*/move')
  await page.keyboard.press('j')
  for (const [key, doing] of [
    ['ArrowRight', ['One', 'Four']],
    ['ArrowLeft', ['Four']],
    ['ArrowRight', ['One', 'Four']],
  ] as const) {
    await expect(page.locator(`#card-${world.cards.One}`)).toBeFocused()
    expect(await inNextFrame(page, key, '[aria-label="Doing"] [data-card] .title')).toEqual(doing)
  }
  release()
})
