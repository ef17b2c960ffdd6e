// Input methods and keyboard layouts of other scripts.
import type { Locator, Page } from '@playwright/test'
import { compose } from './compose'
import { expect, waitUntilSaved, test, titles, type World } from './fixtures'

/** Opens a field that takes text. */
type Opener = (page: Page, world: World) => Promise<Locator>

const list = (page: Page) => page.getByRole('region', { name: 'To do' })
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

/** Opens the board, moves the focus to its first card and presses a key. */
const onBoard =
  (key: string, open: (page: Page) => Locator): Opener =>
  async (page, world) => {
    await page.goto(`/boards/${world.boardId}`)
    await expect(list(page).getByText('One', { exact: true })).toBeVisible()
    await page.keyboard.press('j')
    await page.keyboard.press(key)
    return open(page)
  }

/** Opens a card, and clicks buttons of it in turn. */
const onCard =
  (name: string, ...buttons: string[]): Opener =>
  async (page, world) => {
    await page.goto(`/cards/${world.cards.One}`)
    await expect(page.getByRole('heading', { name: 'Description', exact: true })).toBeVisible()
    for (const button of buttons) await page.getByRole('button', { name: button, exact: true }).click()
    return field(page, name)
  }

/** Creates an object that the composed text finds, so that Enter would choose it. */
const withMatch =
  (path: (world: World) => string, body: (world: World) => object, open: Opener): Opener =>
  async (page, world) => {
    await world.post(path(world), body(world))
    return open(page, world)
  }

/** Clicks a button of the board. */
const clicked =
  (button: (page: Page) => Locator, name: string): Opener =>
  async (page, world) => {
    await page.goto(`/boards/${world.boardId}`)
    await button(page).click()
    return field(page, name)
  }

const openers: Record<string, Opener> = {
  'list name': clicked((page) => list(page).getByRole('button', { name: 'To do', exact: true }), 'List name'),
  'new list': clicked((page) => page.getByRole('button', { name: 'Add list' }), 'List name'),
  'board name': clicked((page) => page.getByRole('button', { name: 'Plan', exact: true }), 'Board name'),
  'new card': onBoard('c', (page) => field(page, 'Card title')),
  'title on the board': onBoard('e', (page) => field(page, 'Title')),
  'label picker': withMatch(
    (world) => `/boards/${world.boardId}/labels`,
    () => ({ name: '来週', color: 'green' }),
    onBoard('l', (page) => page.getByRole('dialog').getByRole('combobox')),
  ),
  filter: onBoard('f', (page) => page.getByRole('searchbox', { name: 'Filter text' })),
  palette: withMatch(
    () => '/boards',
    ({ workspaceId }) => ({ workspaceId, name: '来週' }),
    onBoard('Control+k', (page) => page.getByRole('dialog').getByRole('combobox')),
  ),
  'card title': onCard('Title'),
  description: onCard('Description', 'Add a description…'),
  'checklist name': onCard('Checklist name', 'Add checklist'),
  comment: onCard('Comment'),
}

for (const [name, open] of Object.entries(openers)) {
  test(`composed text is entered whole: ${name}`, async ({ page, world }) => {
    const box = await open(page, world)
    await box.fill('')
    await box.focus()
    await waitUntilSaved(page)
    const changes: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && changes.push(request.url()))
    await compose(page, (await box.elementHandle())!)
    await expect(box).toBeFocused()
    await expect(box).toHaveValue('来週の会議')
    expect(changes).toEqual([])
  })
}

test('the shortcuts work on a Russian keyboard', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(list(page).getByText('One', { exact: true })).toBeVisible()
  const devTools = await page.context().newCDPSession(page)
  const press = async (key: string, code: string, modifiers = 0) => {
    const text = modifiers ? undefined : key
    const event = { key, code, modifiers, windowsVirtualKeyCode: code.charCodeAt(3) }
    await devTools.send('Input.dispatchKeyEvent', { type: 'keyDown', text, ...event })
    await devTools.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
  }
  const control = 2 // the bit of the modifier in the protocol
  await press('о', 'KeyJ')
  await press('ю', 'Period') // moves the card to the next list
  await expect.poll(() => titles(page, 'Doing')).toContain('One')
  await press('я', 'KeyZ', control) // undoes the move
  await expect.poll(() => titles(page, 'To do')).toContain('One')
  await waitUntilSaved(page)
  await press('с', 'KeyC')
  await expect(field(page, 'Card title')).toBeFocused()
  await page.keyboard.press('Escape')
  await press('л', 'KeyK', control)
  const palette = page.getByRole('dialog').getByRole('combobox')
  await expect(palette).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(palette).toBeHidden()
  await press('п', 'KeyG')
  await press('ь', 'KeyM')
  await expect(page).toHaveURL(/\/my-cards$/)
})
