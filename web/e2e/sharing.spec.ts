import { axe, expect, waitForStream, test, undo } from './fixtures'
import { signUpPerson } from './person'

test('a board is shared with a person, and their role decides what they can do', async ({ page, world, browser }) => {
  const grace = await signUpPerson(browser, world, 'guest')
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Share this board' })
  const field = dialog.getByRole('combobox', { name: 'Person to add' })
  await expect(field).toBeFocused()
  await dialog.getByLabel('Role', { exact: true }).selectOption('Viewer')
  await field.focus()
  await page.keyboard.type(grace.name.slice(0, 9))
  await expect(dialog.getByRole('option')).toContainText([grace.name])
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect(dialog.getByLabel(`Role of ${grace.name}`)).toHaveValue('viewer')
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  expect(await axe(page)).toEqual([])

  await grace.page.goto(`/boards/${world.boardId}`)
  await expect(grace.page.getByText('You have view-only access to this board.')).toContainText(
    'To get more access, ask',
  )
  await expect(grace.page.getByRole('button', { name: 'Add card' })).toHaveCount(0)
  await dialog.getByLabel(`Role of ${grace.name}`).selectOption('Editor')
  await expect(grace.page.getByRole('button', { name: 'Add card' }).first()).toBeVisible({ timeout: 30_000 })
  await dialog.getByRole('button', { name: `Remove ${grace.name}` }).click()
  await expect(grace.page.getByText('Board not found')).toBeVisible({ timeout: 30_000 })
  await undo(page, `${grace.name} was removed from the board`)
  await expect(dialog.getByLabel(`Role of ${grace.name}`)).toHaveValue('editor')
  await grace.close()
})

test('the role of the last admin of a private board cannot be changed, and the page says why', async ({
  page,
  world,
}) => {
  const id = await world.post('/boards', { workspaceId: world.workspaceId, name: 'Mine', visibility: 'private' })
  await page.goto(`/boards/${id}`)
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Share this board' })
  await dialog.getByRole('combobox', { name: /^Role of / }).selectOption('Viewer')
  await expect(dialog.getByRole('alert')).toContainText('last admin')
  await expect(dialog.getByRole('combobox', { name: /^Role of / })).toHaveValue('admin')
})

test('an unknown address can be invited directly from the Share dialog', async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  const email = `new.${crypto.randomUUID().slice(0, 6)}@example.com`
  await page.getByRole('combobox', { name: 'Person to add' }).fill(email)
  await page.getByRole('button', { name: 'Invite as a guest' }).click()
  await expect(page.getByText(`${email} was invited to the workspace`)).toBeVisible()
})

test('other people on the board are shown, and disappear when they leave', async ({ page, world, browser }) => {
  test.setTimeout(90_000)
  const grace = await signUpPerson(browser, world)
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByRole('group', { name: 'Viewing now' })).toHaveCount(0)
  await grace.page.goto(`/boards/${world.boardId}`)
  const viewers = page.getByRole('group', { name: 'Viewing now' })
  await expect(viewers.getByRole('img', { name: grace.name })).toBeVisible({ timeout: 30_000 })
  await expect(grace.page.getByRole('group', { name: 'Viewing now' })).toBeVisible({ timeout: 30_000 })
  expect(await axe(page)).toEqual([])
  await grace.close()
  await expect(viewers).toHaveCount(0, { timeout: 45_000 })
})

test('two people who edit a description at the same time see both versions', async ({ page, world, browser }) => {
  test.setTimeout(60_000)
  const grace = await signUpPerson(browser, world)
  const openDescription = async (editor: typeof page) => {
    const stream = waitForStream(editor, world.boardId)
    await editor.goto(`/cards/${world.cards.One}`)
    await editor.getByRole('button', { name: 'Add a description…' }).click()
    await expect(editor.getByRole('textbox', { name: 'Description' })).toBeFocused()
    await stream
  }
  await openDescription(page)
  await openDescription(grace.page)
  await page.route('**/cards/*', (route) => (route.request().method() === 'PATCH' ? undefined : route.continue()))
  await page.keyboard.type('What I think')
  await grace.page.keyboard.type('What Grace thinks')
  const conflict = page.getByRole('alertdialog')
  await expect(conflict).toContainText(`${grace.name} edited this description while you were editing`, {
    timeout: 20_000,
  })
  await expect(conflict.getByRole('region', { name: 'Your text' })).toContainText('What I think')
  await expect(conflict.getByRole('region', { name: `Text by ${grace.name}` })).toContainText('What Grace thinks')
  expect(await axe(page)).toEqual([])
  await page.unroute('**/cards/*')
  await grace.close()
})
