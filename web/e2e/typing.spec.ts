// Typed text is never lost: drafts, length limits and keyboard focus.
import type { Page } from '@playwright/test'
import { callApi, expect, waitUntilSaved, test, undo } from './fixtures'

const openCard = async (page: Page, id: string) => {
  await page.goto(`/cards/${id}`)
  await expect(page.getByRole('heading', { name: 'Description', exact: true })).toBeVisible()
}

const comment = (page: Page) => page.getByRole('textbox', { name: 'Comment', exact: true })

test('typing after "Add checklist" sets its name and adds items, and changes nothing else', async ({ page, world }) => {
  await openCard(page, world.cards.One!)
  await page.getByRole('button', { name: 'Add checklist' }).click()
  await expect(page.getByRole('textbox', { name: 'Checklist name' })).toBeFocused()
  await page.keyboard.type('Eggs')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('textbox', { name: 'New item' })).toBeFocused()
  await page.keyboard.type('Six of them')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Checklist Eggs' }).getByText('Six of them')).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue('One')
  await waitUntilSaved(page)
  const card = await callApi<{ title: string; checklists: { title: string; items: { title: string }[] }[] }>(
    page,
    'GET',
    `/public/v1/cards/${world.cards.One}`,
  )
  expect(card.title).toBe('One')
  expect(card.checklists.map((c) => [c.title, c.items.map((i) => i.title)])).toEqual([['Eggs', ['Six of them']]])
})

test('Escape cancels the edit of a checklist item, and Delete does not save it', async ({ page, world }) => {
  await world.post(`/cards/${world.cards.One}/checklists`, { title: 'Steps', items: ['First', 'Second'] })
  await openCard(page, world.cards.One!)
  const changes: string[] = []
  page.on('request', (r) => r.method() === 'PATCH' && changes.push(r.url()))
  const edit = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).click()
    await page.getByRole('textbox', { name: 'Item', exact: true }).fill('Something else')
  }
  await edit('First')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('checkbox', { name: 'First' })).toBeVisible()
  await edit('Second')
  await page.getByRole('button', { name: 'Delete Second' }).click()
  await expect(page.getByRole('checkbox')).toHaveCount(2) // "Done" and "First"
  await undo(page)
  await expect(page.getByRole('checkbox', { name: 'Second' })).toBeVisible()
  expect(changes).toEqual([])
})

test('a title that was saved while it was typed does not replace a later change by others', async ({ page, world }) => {
  await openCard(page, world.cards.One!)
  const title = page.getByRole('textbox', { name: 'Title' })
  const saved = page.waitForResponse((r) => r.request().method() === 'PATCH' && r.ok())
  await title.fill('Mine')
  await saved
  await waitUntilSaved(page)
  await callApi(page, 'PATCH', `/public/v1/cards/${world.cards.One}`, { title: 'Theirs' })
  await expect(page).toHaveTitle(/Theirs/)
  await title.blur()
  await expect(title).toHaveValue('Theirs')
})

test('a description that was undone does not conflict with a later change by others', async ({ page, world }) => {
  await openCard(page, world.cards.One!)
  await page.getByRole('button', { name: 'Add a description…' }).click()
  const box = page.getByRole('textbox', { name: 'Description' })
  const saved = page.waitForResponse((r) => r.request().method() === 'PATCH' && r.ok())
  await box.fill('Mine')
  await saved
  await page.getByRole('heading', { name: 'Description', exact: true }).click()
  await expect(box).toHaveCount(0)
  await page.keyboard.press('Control+z')
  await expect(page.getByRole('button', { name: 'Add a description…' })).toBeVisible()
  await waitUntilSaved(page)
  await callApi(page, 'PATCH', `/public/v1/cards/${world.cards.One}`, { description: 'Theirs' })
  await expect(page.getByText('Theirs')).toBeVisible()
  await expect(page.getByRole('alertdialog')).toHaveCount(0)
})

test('a letter key on a focused button is not a shortcut', async ({ page, world }) => {
  await openCard(page, world.cards.One!)
  const title = page.getByRole('textbox', { name: 'Title' })
  await page.getByRole('button', { name: 'Add a description…' }).focus()
  await page.keyboard.press('e')
  await expect(title).not.toBeFocused()
  await page.keyboard.press('s')
  await expect(page.getByRole('dialog', { name: 'Move to' })).toBeHidden()
  // On the card itself, the key is a shortcut.
  await page.locator('dialog .inside').first().focus()
  await page.keyboard.press('e')
  await expect(title).toBeFocused()
})

test('an unsent comment survives two Escapes, a click outside, Back and a reload', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('link', { name: 'One', exact: true }).click()
  await comment(page).fill('Half a sent')
  const reload = () => page.reload()
  for (const leaveCard of [
    async () => {
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
    },
    () => page.mouse.click(5, 400),
    () => page.goBack(),
    reload,
  ]) {
    const opened = page.url()
    await leaveCard()
    if (leaveCard !== reload) {
      await expect(page).not.toHaveURL(opened)
      await page.getByRole('link', { name: 'One', exact: true }).click()
    }
    await expect(comment(page)).toHaveValue('Half a sent')
    await expect(page.getByText('Draft restored')).toBeVisible()
    await comment(page).focus()
  }
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(comment(page)).toHaveValue('')
  await page.reload()
  await expect(comment(page)).toHaveValue('')
})

test('a sent comment leaves no draft', async ({ page, world }) => {
  await openCard(page, world.cards.One!)
  await comment(page).fill('All of it')
  await page.keyboard.press('Control+Enter')
  await waitUntilSaved(page)
  await page.reload()
  await expect(page.getByRole('article').getByText('All of it')).toBeVisible()
  await expect(comment(page)).toHaveValue('')
})

test('the edit of a comment survives a reload', async ({ page, world }) => {
  await world.post(`/cards/${world.cards.One}/comments`, { text: 'Firts' })
  await openCard(page, world.cards.One!)
  const article = page.getByRole('article')
  await article.getByRole('button', { name: 'Edit' }).click()
  await article.getByRole('textbox').fill('First, and more')
  await page.reload()
  await expect(article.getByRole('textbox')).toHaveValue('First, and more')
  await article.getByRole('button', { name: 'Save' }).click()
  await waitUntilSaved(page)
  await page.reload()
  await expect(article.getByText('First, and more')).toBeVisible()
  await expect(article.getByRole('textbox')).toBeHidden()
})

test('a description typed just before a reload is kept and saved', async ({ page, world }) => {
  await openCard(page, world.cards.One!)
  await page.getByRole('button', { name: 'Add a description…' }).click()
  await page.keyboard.type('Just before')
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  const box = page.getByRole('textbox', { name: 'Description' })
  const shown = page.locator('.prose').getByText('Just before')
  await expect(box.or(shown).first()).toBeVisible()
  const path = `/public/v1/cards/${world.cards.One}`
  await expect
    .poll(async () => (await callApi<{ description?: string }>(page, 'GET', path)).description)
    .toBe('Just before')
})

test('a description that did not reach the server is restored, and can be discarded', async ({ page, world }) => {
  await openCard(page, world.cards.One!)
  await page.route(`**/cards/${world.cards.One}`, (route) =>
    route.request().method() === 'PATCH' ? route.abort() : route.continue(),
  )
  await page.getByRole('button', { name: 'Add a description…' }).click()
  await page.keyboard.type('Never sent')
  page.on('dialog', (dialog) => void dialog.accept())
  await page.reload()
  const box = page.getByRole('textbox', { name: 'Description' })
  await expect(box).toHaveValue('Never sent')
  await page.unroute(`**/cards/${world.cards.One}`)
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(page.getByRole('button', { name: 'Add a description…' })).toBeVisible()
  await waitUntilSaved(page)
  await page.reload()
  await expect(page.getByRole('button', { name: 'Add a description…' })).toBeVisible()
})

test('Escape in the form of a new card keeps its text', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  const list = page.getByRole('region', { name: 'Doing' })
  await list.getByRole('button', { name: 'Add card' }).click()
  await page.keyboard.type('Not quite')
  await page.keyboard.press('Escape')
  await expect(list.getByRole('button', { name: 'Add card Draft' })).toBeVisible()
  await page.reload()
  await list.getByRole('button', { name: 'Add card' }).click()
  const box = page.getByRole('textbox', { name: 'Card title' })
  await expect(box).toHaveValue('Not quite')
  await page.keyboard.press('Enter')
  await expect(list.getByText('Not quite', { exact: true })).toBeVisible()
  await expect(box).toHaveValue('')
  await page.keyboard.press('Escape')
  await expect(list.getByRole('button', { name: 'Add card' })).toHaveText('Add card')
})

test('text over its limit is not truncated, shows its length, and is rejected with a message', async ({
  page,
  world,
}) => {
  await openCard(page, world.cards.One!)
  const long = 'x'.repeat(16_400)
  await comment(page).fill(long)
  await expect(page.getByText('Not saved: 16,400 characters. Shorten it to 16,384 or fewer.')).toBeVisible()
  await expect(comment(page)).toHaveAttribute('aria-invalid', 'true')
  await page.keyboard.press('Control+Enter')
  await expect(comment(page)).toHaveValue(long)
  await comment(page).fill('x'.repeat(16_380))
  await expect(page.getByText('16,380 of 16,384 characters')).toBeVisible()
  await expect(comment(page)).not.toHaveAttribute('aria-invalid')

  await page.getByRole('button', { name: 'Add a description…' }).click()
  const description = page.getByRole('textbox', { name: 'Description' })
  await description.fill(long)
  await page.keyboard.press('Escape')
  await expect(description).toHaveValue(long)

  const title = page.getByRole('textbox', { name: 'Title' })
  await title.fill('y'.repeat(600))
  await title.blur()
  await expect(title).toHaveValue('y'.repeat(600))
  await expect(page.getByText('Not saved: 600 characters. Shorten it to 512 or fewer.')).toBeVisible()
  const card = await callApi<{ title: string; description?: string }>(
    page,
    'GET',
    `/public/v1/cards/${world.cards.One}`,
  )
  expect([card.title, card.description ?? '']).toEqual(['One', ''])
})

test('a pasted line that is too long is not truncated', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('region', { name: 'Doing' }).getByRole('button', { name: 'Add card' }).click()
  const box = page.getByRole('textbox', { name: 'Card title' })
  const text = `short\n${'z'.repeat(520)}`
  await box.fill(text)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Not saved: line 2 has 520 characters. Shorten it to 512 or fewer.')).toBeVisible()
  await expect(box).toHaveValue(text)
})

test('text that the server rejects is restored where it was typed', async ({ page, world }) => {
  await openCard(page, world.cards.One!)
  await page.route('**/comments', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 400, json: { error: { code: 'invalid_request', message: 'Not today.' } } })
      : route.continue(),
  )
  await comment(page).fill('Please keep me')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText('Not today.')).toBeVisible()
  await expect(comment(page)).toHaveValue('Please keep me')
})
