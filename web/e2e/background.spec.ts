// The picture behind the lists of a board.
import type { Page } from '@playwright/test'
import { axe, callApi, expect, test, undo, waitUntilSaved } from './fixtures'
import { png } from './png'

const picture = (page: Page) => page.locator('img.picture')
const width = (page: Page) => picture(page).evaluate((image) => (image as HTMLImageElement).naturalWidth)

test('a board shows a picture to everyone until it is removed, with undo', async ({
  page,
  world,
  newSignedOutPage,
}) => {
  const { url } = await callApi<{ url: string }>(page, 'PATCH', `/app/v1/boards/${world.boardId}/public-page`, {
    on: true,
  })
  await page.goto(`/boards/${world.boardId}`)
  const other = await page.context().newPage()
  await other.goto(`/boards/${world.boardId}`)
  await expect(other.getByRole('heading', { level: 1, name: 'Plan' })).toBeVisible()
  await expect(picture(other)).toHaveCount(0)

  await page.getByRole('button', { name: 'Board menu' }).click()
  await page.getByRole('menuitem', { name: 'Board settings…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Board settings' })
  const choose = (name: string, mimeType: string, buffer: Buffer) =>
    dialog.getByLabel('Picture', { exact: true }).setInputFiles({ name, mimeType, buffer })
  await choose('page.png', 'image/png', Buffer.from('<!doctype html><script>alert(1)</script>'))
  await expect(dialog.getByRole('alert')).toContainText('The file is not a picture.')
  await choose('sea.png', 'image/png', png(2400, 1200))
  await expect(dialog.locator('img')).toHaveJSProperty('naturalWidth', 1920)
  expect(await axe(page)).toEqual([])
  await expect.poll(() => width(other), 'the other page').toBe(1920)
  const guest = await newSignedOutPage()
  await guest.goto(new URL(url).pathname)
  await expect.poll(() => width(guest), 'the public page').toBe(1920)

  await dialog.getByRole('button', { name: 'Remove picture' }).press('Enter')
  await expect(dialog.getByRole('button', { name: 'Choose picture…' })).toBeFocused()
  await expect(picture(other)).toHaveCount(0)
  await undo(page)
  await expect.poll(() => width(other), 'after undo').toBe(1920)
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await page.keyboard.press('Control+z') // the upload
  await waitUntilSaved(page)
  await expect(picture(page)).toHaveCount(0)
  await expect(picture(other)).toHaveCount(0)
})
