import { axe, nextFrames, expect, test, titles } from './fixtures'

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

test.beforeEach(async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Three')).toBeVisible()
})

test('a long press drags a card', async ({ page, context }) => {
  const cdp = await context.newCDPSession(page)
  const at = async (title: string) => {
    const box = (await page.getByText(title, { exact: true }).boundingBox())!
    return { x: box.x + 20, y: box.y + 8 }
  }
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', point?: { x: number; y: number }) =>
    cdp.send('Input.dispatchTouchEvent', { type, touchPoints: point ? [point] : [] })
  const from = await at('One')
  const to = await at('Three')
  await touch('touchStart', from)
  await expect(page.locator('.drag-ghost')).toBeVisible()
  await touch('touchMove', { x: from.x, y: from.y + 30 })
  await touch('touchMove', { x: to.x, y: to.y + 24 })
  await nextFrames(page)
  await touch('touchEnd')
  await expect.poll(() => titles(page, 'To do')).toEqual(['Two', 'Three', 'One'])
})

test('the form of a new card is closed with a button', async ({ page }) => {
  await page.getByRole('button', { name: 'Add card' }).first().tap()
  await expect(page.getByText('Enter to add, Esc to close')).toBeHidden()
  await page.getByLabel('Card title').fill('Five')
  await page.getByRole('button', { name: 'Close', exact: true }).tap()
  await expect(page.getByLabel('Card title')).toHaveCount(0)
  await expect.poll(() => titles(page, 'To do')).toEqual(['One', 'Two', 'Three'])
})

test('the actions for selected cards are in two rows and in view', async ({ page }) => {
  for (const key of 'jxjx') await page.keyboard.press(key)
  const bar = page.getByRole('toolbar', { name: 'Actions on selected cards' })
  const archive = (await bar.getByRole('button', { name: 'Archive' }).boundingBox())!
  const count = (await bar.getByText('2 selected').boundingBox())!
  const all = (await bar.boundingBox())!
  expect(archive.y).toBeGreaterThanOrEqual(count.y + count.height)
  expect(archive.x + archive.width).toBeLessThanOrEqual(all.x + all.width)
})

test('the comment field is in view with its button, and an item is deleted in its editor', async ({ page, world }) => {
  await page.goto(`/cards/${world.cards.Two}`)
  await page.getByRole('button', { name: 'Add checklist' }).tap()
  await page.getByRole('button', { name: 'Add item' }).tap()
  await page.getByLabel('New item').fill('A step')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  const remove = page.getByRole('button', { name: 'Delete A step' })
  await expect(remove).toBeHidden()
  await page.getByRole('button', { name: 'A step', exact: true }).tap()
  await remove.tap()
  await expect(page.getByRole('checkbox', { name: 'A step' })).toHaveCount(0)
  await page.setViewportSize({ width: 390, height: 420 })
  await page.getByLabel('Comment', { exact: true }).fill('Well\nsaid')
  await expect(page.getByRole('button', { name: 'Comment', exact: true })).toBeInViewport({ ratio: 1 })
})

test('an item can be edited before the response to its creation arrives', async ({ page, world }) => {
  await page.goto(`/cards/${world.cards.Two}`)
  await page.getByRole('button', { name: 'Add checklist' }).tap()
  let respond = () => {}
  const released = new Promise<void>((resolve) => (respond = resolve))
  await page.route('**/items', async (route) => {
    await released
    await route.continue()
  })
  await page.getByRole('button', { name: 'Add item' }).tap()
  await page.getByLabel('New item').fill('A step')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'A step', exact: true }).tap()
  const responded = page.waitForResponse('**/items')
  respond()
  await (await responded).finished()
  await nextFrames(page)
  await page.getByRole('button', { name: 'Delete A step' }).tap({ timeout: 5000 })
  await expect(page.getByRole('checkbox', { name: 'A step' })).toHaveCount(0)
})

test('a card opens as a sheet, and the menu as a drawer', async ({ page, world }) => {
  await page.getByText('Two', { exact: true }).tap()
  await expect(page).toHaveURL(`/cards/${world.cards.Two}`)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  expect(await axe(page)).toEqual([])
  const sheet = (await page.getByRole('dialog').boundingBox())!
  expect(sheet.width).toBe(390)
  await page.getByRole('button', { name: 'Close' }).tap()
  await page.getByRole('button', { name: 'Menu', exact: true }).tap()
  const drawer = page.getByRole('navigation', { name: 'Workspaces and boards' })
  await drawer.getByRole('link', { name: 'Home' }).tap()
  await expect(page).toHaveURL('/')
  await expect(drawer).toBeHidden()
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'My cards' }).tap()
  await expect(page).toHaveURL('/my-cards')
})

test('a row of tabs that extends beyond the window fades at the edge', async ({ page, world }) => {
  await page.goto(`/workspaces/${world.workspaceId}/calendar`)
  const strip = page.locator('[data-hides]').filter({ has: page.getByRole('button', { name: 'All boards' }) })
  await expect(strip).toHaveAttribute('data-hides', 'after')
  await expect(strip).toHaveCSS('mask-image', /gradient/)
  // The number of cards arrives later and makes the row longer.
  await expect(strip.getByRole('button', { name: 'No date' })).toContainText(/\d/)
  await strip.evaluate((node) => node.scrollTo(node.scrollWidth, 0))
  await expect(strip).toHaveAttribute('data-hides', 'before')
})
