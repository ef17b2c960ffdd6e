import { callApi, axe, expect, waitUntilSaved, server, test, undo } from './fixtures'

test('several pasted addresses are invited together; an invitation is withdrawn and sent again', async ({
  page,
  world,
}) => {
  await page.goto(`/workspaces/${world.workspaceId}/members`)
  const suffix = crypto.randomUUID().slice(0, 8)
  await page
    .getByLabel('Email addresses')
    .fill(`"Lovelace, Ada" <ada.${suffix}@example.com>; grace.${suffix}@example.com\nnobody\n${server().email}`)
  await expect(page.getByText('2 addresses')).toBeVisible()
  await expect(page.getByText('“nobody” isn’t an email address')).toBeVisible()
  await expect(page.getByText('1 already in the workspace')).toBeVisible()
  await page.getByLabel('Role', { exact: true }).selectOption('admin')
  await page.getByRole('button', { name: 'Invite 2 people' }).click()
  const invited = page.getByRole('region', { name: 'Invited' })
  await expect(invited.getByRole('listitem')).toHaveCount(2)
  await expect(invited.getByRole('listitem').first()).toContainText('14 days left')
  await expect(page.getByLabel('Email addresses')).toHaveValue('nobody')
  await invited.getByRole('button', { name: `Withdraw invitation to ada.${suffix}` }).click()
  await expect(invited.getByRole('listitem')).toHaveCount(1)
  await page.getByRole('button', { name: 'Invite again' }).click()
  await expect(invited.getByRole('listitem')).toHaveCount(2)
})

test('the role of the last owner cannot be changed, and the page says why', async ({ page, world }) => {
  await page.goto(`/workspaces/${world.workspaceId}/members`)
  const own = page.getByRole('region', { name: 'People' }).getByRole('listitem').filter({ hasText: 'You' })
  await expect(own).toContainText('You’re the only owner')
  await expect(own.getByRole('combobox')).toHaveCount(0)
  await expect(own.getByRole('button')).toHaveCount(0)
})

test('archived lists and cards are found and restored', async ({ page, world }) => {
  for (const title of ['Broken link', 'Other thing']) {
    const card = await world.post('/cards', { listId: world.lists['To do'], title })
    await world.post(`/cards/${card}/archive`, {})
  }
  const list = await world.post(`/boards/${world.boardId}/lists`, { name: 'Old ideas' })
  await world.post('/cards', { listId: list, title: 'Idea in an archived list' })
  await world.post(`/lists/${list}/archive`, {})
  await page.goto(`/workspaces/${world.workspaceId}/archive?board=${world.boardId}`)
  const cards = page.getByRole('region', { name: 'Cards' })
  await expect(cards.getByRole('listitem')).toHaveCount(3)
  const idea = cards.getByRole('listitem').filter({ hasText: 'Idea in an archived list' })
  await expect(idea).toContainText('archived with its list')
  await expect(idea.getByRole('button')).toHaveCount(0)
  await page.getByRole('button', { name: 'Restore list Old ideas' }).click()
  await expect(page.getByRole('region', { name: 'Lists' })).toHaveCount(0)
  await expect(cards.getByRole('listitem')).toHaveCount(2)
  await page.getByRole('searchbox').fill('brok')
  await expect(cards.getByRole('listitem')).toHaveCount(1)
  await cards.getByRole('button', { name: 'Restore Broken link' }).click()
  await expect(cards).toContainText('No cards found')
  await undo(page, '“Broken link” restored')
  await expect(cards.getByRole('listitem')).toHaveCount(1)
})

test('deleted lists and cards are restored by an admin', async ({ page, world }) => {
  const card = await world.post('/cards', { listId: world.lists['To do'], title: 'Broken link' })
  await world.post(`/cards/${card}/archive`, {})
  const list = await world.post(`/boards/${world.boardId}/lists`, { name: 'Old ideas' })
  await world.post('/cards', { listId: list, title: 'Idea in a list' })
  await world.post(`/lists/${list}/archive`, {})
  await page.goto(`/workspaces/${world.workspaceId}/archive?board=${world.boardId}`)
  const cards = page.getByRole('region', { name: 'Cards' })
  const deleted = page.getByRole('region', { name: 'Deleted' })
  await expect(cards.getByRole('listitem')).toHaveCount(2)
  await expect(deleted).toHaveCount(0)

  await page.getByRole('button', { name: 'Delete Broken link' }).click()
  await expect(cards.getByRole('listitem')).toHaveCount(1)
  await expect(deleted).toContainText('Broken link')
  await expect(deleted).toContainText('30 days left')
  await page.getByRole('button', { name: 'Delete list Old ideas' }).click()
  await expect(cards).toContainText('No archived cards')
  await expect(deleted.getByRole('listitem')).toHaveCount(2)

  await deleted.getByRole('button', { name: 'Restore Old ideas' }).click()
  await expect(deleted.getByRole('listitem')).toHaveCount(1)
  await deleted.getByRole('button', { name: 'Restore Broken link' }).click()
  await expect(deleted).toHaveCount(0)
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Broken link')).toBeVisible()
  await expect(page.getByText('Idea in a list')).toBeVisible()
})

test('a board is restored from the archive and from the trash', async ({ page, world }) => {
  await world.post(`/boards/${world.boardId}/archive`, {})
  await page.goto(`/workspaces/${world.workspaceId}/archive`)
  await page.getByRole('button', { name: 'Restore Plan' }).click()
  await expect(page.getByText('No archived boards')).toBeVisible()
  await waitUntilSaved(page)
  await callApi(page, 'DELETE', `/public/v1/boards/${world.boardId}`)
  await page.getByRole('link', { name: 'Trash', exact: true }).click()
  await expect(page.getByRole('region', { name: 'Boards' }).getByRole('listitem')).toContainText('30 days left')
  await page.getByRole('button', { name: 'Restore Plan' }).click()
  await expect(page.getByText('The trash is empty')).toBeVisible()
})

test('a Trello file is detected, imported and reported; other files are rejected with the reason', async ({
  page,
  world,
}) => {
  await page.goto(`/workspaces/${world.workspaceId}/import`)
  const file = (name: string, text: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
  const picker = page.locator('input[type=file]')
  await picker.setInputFiles(file('cards.csv', 'Card ID,Name\n1,One\n'))
  await expect(page.getByRole('alert')).toContainText('CSV')
  await expect(page.getByRole('button', { name: 'Import', exact: true })).toBeDisabled()
  const board = {
    id: '5f0000000000000000000001',
    name: 'From Trello',
    url: 'https://trello.com/b/x',
    lists: [{ id: '5f0000000000000000000002', name: 'Ideas', closed: false, pos: 1 }],
    cards: [
      {
        id: '5f0000000000000000000003',
        idList: '5f0000000000000000000002',
        idShort: 1,
        name: 'A card',
        desc: '',
        closed: false,
        pos: 1,
        attachments: [{ id: '5f0000000000000000000004', name: 'plan.pdf', url: 'https://example.com/plan.pdf' }],
      },
    ],
  }
  await picker.setInputFiles(file('board.json', JSON.stringify(board)))
  await expect(page.getByText('Trello board export,')).toBeVisible()
  expect(await axe(page)).toEqual([])
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const report = page.getByRole('region', { name: 'Board imported' })
  await expect(report).toContainText('1 list and 1 card')
  expect(await axe(page)).toEqual([])
  await report.getByRole('link', { name: 'Open board' }).click()
  await expect(page).toHaveURL(/\/boards\/brd_/)
})

test('an import whose response is lost is sent again, and creates one board', async ({ page, world }) => {
  await page.goto(`/workspaces/${world.workspaceId}/import`)
  const keys: (string | undefined)[] = []
  await page.route('**/import?format=trello', async (route) => {
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length === 2) return route.abort() // the repeated request fails too
    const response = await route.fetch()
    if (keys.length === 1) return route.fulfill({ status: 502, body: 'bad gateway' })
    return route.fulfill({ response })
  })
  const lists = [{ id: '5f0000000000000000000002', name: 'Ideas', closed: false, pos: 1 }]
  const text = JSON.stringify({ id: '5f0000000000000000000001', name: 'Sent three times', lists, cards: [] })
  const file = { name: 'board.json', mimeType: 'application/json', buffer: Buffer.from(text) }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await expect(page.getByRole('region', { name: 'Board imported' })).toContainText('1 list')
  expect(keys).toEqual([keys[0], keys[0], keys[0]])
  await expect(page.getByRole('link', { name: 'Sent three times', exact: true })).toHaveCount(1)
})

test('an export is a file that can be imported again', async ({ page, world }) => {
  await page.goto(`/workspaces/${world.workspaceId}/import`)
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download Plan' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toContain('.json')
  await page.locator('input[type=file]').setInputFiles(await download.path())
  await expect(page.getByText('Cardwall export,')).toBeVisible()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await expect(page.getByRole('region', { name: 'Board imported' })).toContainText('Plan')
})

test('all tabs of a workspace fit, and on a phone the current tab is in view', async ({ page, world }) => {
  const tabRows = page.getByRole('main').getByRole('navigation')
  const overflow = () => tabRows.evaluateAll((all) => all.map((nav) => nav.scrollWidth - nav.clientWidth))
  const currentTabs = tabRows.locator('[aria-current]')
  for (const name of ['members', 'plan', 'settings']) {
    await page.goto(`/workspaces/${world.workspaceId}/${name}`)
    // Settings pages have a second row of tabs.
    await expect(currentTabs).toHaveCount(name === 'members' ? 1 : 2)
    expect((await overflow()).every((px) => px === 0)).toBe(true)
  }
  await page.setViewportSize({ width: 390, height: 844 })
  await page.reload()
  for (const tab of await currentTabs.all()) await expect(tab).toBeInViewport({ ratio: 1 })
  expect((await overflow())[0]).toBeGreaterThan(0)
})

test('a workspace is renamed only if its name has changed, and exported', async ({ page, world }) => {
  await page.goto(`/workspaces/${world.workspaceId}/settings`)
  const name = page.getByLabel('Workspace name')
  const rename = page.getByRole('button', { name: 'Rename', exact: true })
  await expect(rename).toBeDisabled()
  const before = await name.inputValue()
  await name.fill('Renamed workspace')
  await rename.click()
  await expect(page.getByText('Workspace renamed to Renamed workspace')).toBeVisible()
  await expect(rename).toBeDisabled()
  await undo(page)
  await expect(name).toHaveValue(before)
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: /^Download / }).click()
  expect((await downloading).suggestedFilename()).toContain('.json')
})

test('an invitation is sent again', async ({ page, world }) => {
  await page.goto(`/workspaces/${world.workspaceId}/members`)
  const email = `ada.${crypto.randomUUID().slice(0, 8)}@example.com`
  const field = page.getByLabel('Email addresses')
  const height = (await field.boundingBox())!.height
  expect(height).toBeGreaterThan(50) // the empty field has two lines
  await field.fill(email)
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  await page.getByRole('button', { name: `Resend invitation to ${email}` }).click()
  await expect(page.getByText(`Invitation to ${email} resent`)).toBeVisible()
})
