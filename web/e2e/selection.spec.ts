// Selecting many cards, the selection bar and its toasts.
import { expect, waitUntilSaved, test, titles } from './fixtures'

test.beforeEach(async ({ page, world }) => {
  for (const title of ['Six', 'Seven']) await world.post('/cards', { listId: world.lists['To do'], title })
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByRole('region', { name: 'To do' }).getByText('Seven')).toBeVisible()
})

test('Shift-click selects a range in one list, from the card that was clicked last', async ({ page, world }) => {
  const card = (name: string) => page.getByRole('link', { name: new RegExp(`^(Selected: )?${name}$`) })
  const selected = () => page.locator('.tile.selected .title').allInnerTexts()
  const names = async () => (await selected()).map((text) => text.replace(/\s*Selected:\s*/, ''))
  await card('Two').click({ modifiers: ['Control'] })
  await card('Six').click({ modifiers: ['Shift'] })
  await expect.poll(names).toEqual(['Two', 'Three', 'Six'])
  // Another range from the same card replaces the previous range.
  await card('One').click({ modifiers: ['Shift'] })
  await expect.poll(names).toEqual(['One', 'Two'])
  // A card of another list begins a new range; the selection stays.
  await card('Four').click({ modifiers: ['Shift'] })
  await expect.poll(names).toEqual(['One', 'Two', 'Four'])
  await page.keyboard.press('Escape')
  await expect.poll(names).toEqual([])
  expect(page.context().pages()).toHaveLength(1)

  // A range can also begin at a card that was opened, or that has the keyboard focus.
  await card('Three').click()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await card('Seven').click({ modifiers: ['Shift'] })
  await expect.poll(names).toEqual(['Three', 'Six', 'Seven'])
  await page.keyboard.press('Escape')
  await page.locator(`#card-${world.cards.One}`).focus()
  for (const key of ['Shift+ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowUp']) await page.keyboard.press(key)
  await expect.poll(names).toEqual(['One', 'Two'])
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog')).toContainText('Select a range in the list')
})

test('a toast does not cover the selection bar', async ({ page, world }) => {
  for (const size of [
    { width: 1280, height: 720 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(size)
    await page.locator(`#card-${world.cards.One}`).focus()
    await page.keyboard.press('.')
    const toast = page.locator('.toast').last()
    await expect(toast).toBeVisible()
    await page.locator(`#card-${world.cards.Two}`).focus()
    await page.keyboard.press('x')
    const bar = page.getByRole('toolbar', { name: 'Actions on selected cards' })
    await expect(bar).toBeVisible()
    await expect
      .poll(async () => {
        const [toastBox, barBox] = [await toast.boundingBox(), await bar.boundingBox()]
        return toastBox!.y + toastBox!.height <= barBox!.y
      })
      .toBe(true)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+z')
  }
})

test('a toast no longer offers undo after its change was undone', async ({ page, world }) => {
  await page.locator(`#card-${world.cards.One}`).focus()
  await page.keyboard.press('Delete')
  await expect(page.locator('.toast').getByRole('button', { name: 'Undo' })).toBeVisible()
  await page.keyboard.press('Control+z')
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two', 'Three', 'Six', 'Seven'])
  await expect(page.locator('.toast')).toHaveText(/^Undone: .*archived/)
  await expect(page.locator('.toast').getByRole('button', { name: 'Undo' })).toHaveCount(0)
})

test('a rejected change cannot be undone', async ({ page, world }) => {
  await page.route('**/archive', (route) =>
    route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not here.' } } }),
  )
  await page.locator(`#card-${world.cards.One}`).focus()
  await page.keyboard.press('Delete')
  await expect(page.locator('.toast')).toHaveText(/^Not here/)
  await expect(page.getByRole('button', { name: 'Undo' })).toBeDisabled()
})

test('tasks of a description are checkboxes, and #2 links to card 2', async ({ page, world }) => {
  const description = '- [ ] Flour\n- [x] Yeast\n\nAfter #2.'
  const id = await world.post('/cards', { listId: world.lists.Doing, title: 'Bake', description })
  await page.goto(`/cards/${id}`)
  const box = page.getByRole('dialog').getByRole('checkbox', { name: 'Flour' })
  await expect(page.getByRole('checkbox', { name: 'Yeast' })).toBeChecked()
  await box.click()
  await expect(box).toBeChecked()
  await expect(page.getByRole('textbox', { name: 'Description' })).toHaveCount(0)
  await waitUntilSaved(page)
  await page.reload()
  await expect(box).toBeChecked()
  await page.getByRole('dialog').locator('.card-link').click()
  await expect(page).toHaveURL(new RegExp(`/cards/${world.cards.Two}$`))
})
