import { axe, drawn, expect, test, titles } from './fixtures'

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

test.beforeEach(async ({ page, world }) => {
  await page.goto(`/boards/${world.boardId}`)
  await expect(page.getByText('Three')).toBeVisible()
})

test('a finger that rests drags a card; one that moves scrolls', async ({ page, context }) => {
  const finger = await context.newCDPSession(page)
  const at = async (title: string) => {
    const box = (await page.getByText(title, { exact: true }).boundingBox())!
    return { x: box.x + 20, y: box.y + 8 }
  }
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', point?: { x: number; y: number }) =>
    finger.send('Input.dispatchTouchEvent', { type, touchPoints: point ? [point] : [] })
  const from = await at('One')
  const to = await at('Three')
  await touch('touchStart', from)
  await expect(page.locator('.drag-ghost')).toBeVisible()
  await touch('touchMove', { x: from.x, y: from.y + 30 })
  await touch('touchMove', { x: to.x, y: to.y + 24 })
  await drawn(page)
  await touch('touchEnd')
  await expect.poll(() => titles(page, 'To do')).toEqual(['Two', 'Three', 'One'])
})

test('the card is a sheet, and the menu a drawer', async ({ page, world }) => {
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
