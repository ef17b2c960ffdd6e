// Layout of all pages: the left edge, long names, text in any script, printing and navigation.
import { expect, waitUntilSaved, test } from './fixtures'

const longName = 'A board whose name is so long that it fills all the space in the header of the window by itself'

test('a long board name keeps Share and Filter in one row', async ({ page, world }) => {
  const id = await world.post('/boards', { workspaceId: world.workspaceId, name: longName })
  await page.goto(`/boards/${id}`)
  const box = async (name: string) => (await page.getByRole('button', { name, exact: true }).boundingBox())!
  // 700 px is about the width of a laptop's window at 200% zoom.
  for (const width of [1280, 900, 700]) {
    await page.setViewportSize({ width, height: 700 })
    const [share, filter, menu] = [await box('Share'), await box('Filter'), await box('Board menu')]
    expect(Math.abs(share.y - filter.y), `${width} wide`).toBeLessThan(1)
    expect(filter.x).toBeGreaterThanOrEqual(share.x + share.width)
    expect(menu.x + menu.width).toBeLessThanOrEqual(width)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
  }
})

test('cards without a date stay inside their panel of the calendar', async ({ page, world }) => {
  const boardId = await world.post('/boards', { workspaceId: world.workspaceId, name: longName })
  const listId = await world.post(`/boards/${boardId}/lists`, { name: 'Ideas' })
  await world.post('/cards', { listId, title: 'x'.repeat(120) })
  await page.goto(`/workspaces/${world.workspaceId}/calendar`)
  if (!(await page.locator('[data-tray]').isVisible())) await page.keyboard.press('u')
  const row = page.locator('[data-tray] li').filter({ hasText: 'xxx' })
  await expect(row).toBeVisible()
  const [panel, title, facts] = await Promise.all(
    [page.locator('[data-tray]'), row.locator('.title'), row.locator('.facts')].map((l) => l.boundingBox()),
  )
  expect(title!.x + title!.width).toBeLessThanOrEqual(panel!.x + panel!.width)
  expect(facts!.x + facts!.width).toBeLessThanOrEqual(panel!.x + panel!.width)
  expect(await row.locator('.board').evaluate((n) => n.getBoundingClientRect().right)).toBeLessThanOrEqual(
    panel!.x + panel!.width,
  )
})

test('all pages have the same left edge', async ({ page, world }) => {
  const workspace = `/workspaces/${world.workspaceId}`
  const pathsByEdge = new Map<number, string[]>()
  for (const path of [
    '/',
    '/my-cards',
    '/notifications',
    '/profile',
    `/boards/${world.boardId}`,
    `/boards/${world.boardId}/status`,
    `${workspace}/calendar`,
    `${workspace}/dashboard`,
    `${workspace}/members`,
    `${workspace}/settings`,
  ]) {
    await page.goto(path)
    const heading = page.getByRole('heading', { level: 1 })
    await expect(heading).toBeVisible()
    const left = await heading.evaluate((h1) => {
      const text = document.createRange()
      text.selectNodeContents(document.createTreeWalker(h1, NodeFilter.SHOW_TEXT).nextNode()!)
      return Math.round(text.getBoundingClientRect().left)
    })
    pathsByEdge.set(left, [...(pathsByEdge.get(left) ?? []), path])
  }
  expect([...pathsByEdge.keys()], JSON.stringify([...pathsByEdge])).toHaveLength(1)
})

test('labels are in natural order in the picker and the filter', async ({ page, world }) => {
  for (const name of ['100', '10', '1', '2']) {
    await world.post(`/boards/${world.boardId}/labels`, { name, color: 'red' })
  }
  await page.goto(`/boards/${world.boardId}`)
  await page.locator(`#card-${world.cards.One}`).focus()
  await page.keyboard.press('l')
  const options = page.getByRole('dialog').getByRole('option')
  await expect(options).toHaveText(['1', '2', '10', '100'])
  for (const name of ['100', '2', '10']) await page.getByRole('option', { name, exact: true }).click()
  await page.keyboard.press('Escape')
  await expect(page.locator(`[data-card="${world.cards.One}"] .label`)).toHaveText(['2', '10', '100'])
  await waitUntilSaved(page)
})

test('user text has the direction of its script', async ({ page, world }) => {
  const title = 'שלום, world'
  const cardId = await world.post('/cards', { listId: world.lists.Doing, title, description: `${title}\n\nHello` })
  await world.post(`/cards/${cardId}/comments`, { text: title })
  const direction = (node: Element) => getComputedStyle(node).direction
  await page.goto(`/boards/${world.boardId}`)
  expect(await page.locator(`[data-card="${cardId}"]`).getByText(title).evaluate(direction)).toBe('rtl')
  await page.goto(`/cards/${cardId}`)
  await expect(page.getByRole('article')).toBeVisible()
  expect(await page.getByLabel('Title').evaluate(direction)).toBe('rtl')
  expect(await page.locator('.prose p').nth(0).evaluate(direction)).toBe('rtl')
  expect(await page.locator('.prose p').nth(1).evaluate(direction)).toBe('ltr')
  expect(await page.getByRole('article').locator('.prose p').evaluate(direction)).toBe('rtl')
  // Text fields follow the direction of the typed text.
  for (const path of [`/cards/${cardId}`, `/workspaces/${world.workspaceId}/settings`, '/search', '/profile']) {
    await page.goto(path)
    const fields = page.locator('textarea, input:not([type]), input[type="text"], input[type="search"]')
    await expect(fields.first()).toBeVisible()
    const withoutAuto = await fields.evaluateAll((all) => all.filter((f) => f.getAttribute('dir') !== 'auto').length)
    expect(withoutAuto, path).toBe(0)
  }
})

test('a list is in view as a whole when Tab enters it', async ({ page, world }) => {
  const names = ['To do', 'Doing', 'Done', '4', '5', '6', '7', '8', '9']
  for (const name of names.slice(3)) {
    const listId = await world.post(`/boards/${world.boardId}/lists`, { name })
    await world.post('/cards', { listId, title: `Card in ${name}` })
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Card in 4', { exact: true })).toBeVisible()
  /** Presses a key, and returns the focused list and how far it extends beyond the area of the lists. */
  const press = async (key: string) => {
    await page.keyboard.press(key)
    return page.evaluate(() => {
      const list = document.activeElement?.closest('[data-list]')
      if (!list) return { name: '', hidden: 0 }
      const [at, area] = [list.getBoundingClientRect(), list.parentElement!.getBoundingClientRect()]
      const hidden = Math.max(0, area.left - at.left, at.right - area.right)
      return { name: list.getAttribute('aria-label')!, hidden }
    })
  }
  for (const [key, last] of [
    ['Tab', '7'],
    ['Shift+Tab', 'To do'],
  ] as const) {
    let name = ''
    while (name !== last) {
      const step = await press(key)
      name = step.name
      expect(step.hidden, `${key} to the list ${name}`).toBe(0)
    }
  }
})

test('a board is printed in full and without controls', async ({ page, world }) => {
  for (let n = 1; n <= 40; n++) await world.post('/cards', { listId: world.lists.Done, title: `Printed ${n}` })
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Printed 1', { exact: true })).toBeVisible()
  await page.emulateMedia({ media: 'print' })
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await expect(page.getByText('Printed 40', { exact: true })).toBeVisible()
  for (const name of ['Share', 'Filter', 'Board menu', 'Add card', 'Undo']) {
    await expect(page.getByRole('button', { name, exact: true })).toHaveCount(0)
  }
  await expect(page.getByRole('heading', { name: 'Plan' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'To do' })).toBeVisible()
  await page.emulateMedia({ media: 'screen' })
  await page.goto(`/cards/${world.cards.One}`)
  await expect(page.getByLabel('Title')).toHaveValue('One')
  await page.emulateMedia({ media: 'print' })
  const avatar = (await page.locator('dialog .avatar').filter({ visible: true }).first().boundingBox())!
  expect(avatar.height).toBe(avatar.width)
  for (const name of ['Close', 'Card menu', 'Add checklist', 'Attach', 'Set due date', 'Assign']) {
    await expect(page.getByRole('button', { name, exact: true })).toHaveCount(0)
  }
  await expect(page.getByLabel('Comment', { exact: true })).toBeHidden()
  await expect(page.getByLabel('Title')).toBeVisible()
})

test('on a touch screen an empty date does not show mm/dd/yyyy', async ({ browser, page, world, baseURL }) => {
  const context = await browser.newContext({
    baseURL,
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 844 },
  })
  await context.addCookies(
    (await page.context().cookies()).map(({ name, value }) => ({
      name,
      value,
      url: baseURL!.replace('http:', 'https:'),
      secure: true,
    })),
  )
  const phone = await context.newPage()
  await phone.goto(`/workspaces/${world.workspaceId}/audit?from=2026-01-05`)
  const [from, to] = [phone.locator('.native input').first(), phone.locator('.native input').last()]
  await expect(from).toHaveAttribute('type', 'date')
  await expect(phone.locator('.native').first()).toHaveText('5 Jan 2026')
  await expect(phone.locator('.native').last()).toHaveText('Date')
  for (const field of [from, to]) {
    expect(await field.evaluate((node) => getComputedStyle(node).color)).toBe('rgba(0, 0, 0, 0)')
  }
  await context.close()
})

test('a column that the keyboard scrolls to is not covered by the sidebar', async ({ page, world }) => {
  for (let n = 1; n <= 4; n++) {
    const listId = await world.post(`/boards/${world.boardId}/lists`, { name: `More ${n}` })
    await world.post('/cards', { listId, title: `Far ${n}` })
  }
  await page.setViewportSize({ width: 900, height: 700 })
  await page.goto(`/boards/${world.boardId}`)
  await page.locator(`#card-${world.cards.One}`).focus()
  for (const list of ['Doing', 'More 1', 'More 2', 'More 3', 'More 4']) {
    await page.keyboard.press('ArrowRight')
    await expect(page.getByRole('region', { name: list, exact: true }).locator('.tile.current')).toHaveCount(1)
  }
  const edge = (await page.locator('.side').boundingBox())!.width
  for (const list of ['More 3', 'More 2', 'More 1', 'Doing', 'To do']) {
    await page.keyboard.press('ArrowLeft')
    const column = page.getByRole('region', { name: list, exact: true })
    await expect(column.locator('.tile.current')).toHaveCount(1)
    const gap = await column.evaluate((node) => node.getBoundingClientRect().left)
    expect(gap - edge, list).toBeGreaterThanOrEqual(12)
  }
})

test('daily pages come first, and administration is a separate group', async ({ page, world }) => {
  const name = world.workspaceName
  await page.goto(`/workspaces/${world.workspaceId}/calendar`)
  await page.goto(`/workspaces/${world.workspaceId}/members`)
  const daily = page.getByRole('navigation', { name, exact: true })
  await expect(daily.getByRole('link')).toHaveText([
    'Calendar',
    'Dashboard',
    /^Members/,
    'Templates',
    'Archive',
    'Trash',
    'Settings',
  ])
  await daily.getByRole('link', { name: 'Settings' }).click()
  const administration = page.getByRole('navigation', { name: `Settings of ${name}` })
  await expect(administration.getByRole('link')).toHaveText([
    'General',
    'Plan',
    'Webhooks',
    'Import and export',
    'Audit log',
  ])
  await administration.getByRole('link', { name: 'Plan' }).click()
  await expect(page).toHaveURL(/\/plan$/)
  await expect(daily.getByRole('link', { name: 'Settings' })).toHaveAttribute('aria-current', 'true')
  // The links of the sidebar include the workspace in their accessible names.
  const sidebar = page.getByRole('navigation', { name: 'Workspaces and boards' })
  for (const label of ['Calendar', 'Dashboard', 'Members']) {
    const link = sidebar.getByRole('link', { name: `${label} of ${name}` })
    await expect(link).toHaveText(label)
    await expect(link).toBeVisible()
  }
})

test.describe('signed out', () => {
  test.use({ signedIn: false })
  test('sign-in has a description', async ({ page }) => {
    await page.goto('/sign-in')
    await expect(page.locator('meta[name="description"]')).toHaveAttribute('content', /boards, lists and cards/)
  })
})
