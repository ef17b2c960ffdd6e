// Attached files as people use them: photos from a phone over a slow network, and the keyboard alone.
import type { Locator } from '@playwright/test'
import { expect, shortenPauses, test, waitUntilSaved } from './fixtures'
import { note, openCard, picture, section, tile, type TestFile } from './files'

test('a file is attached, renamed, shown, removed and taken back with the keyboard alone', async ({ page, world }) => {
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await page.goto(`/boards/${world.boardId}`)
  await expect(tile(page, world, 'One')).toBeVisible()
  await press('j', 'Enter')
  await expect(page.getByRole('heading', { name: 'Comments and activity' })).toBeVisible()
  const attach = page.getByRole('button', { name: 'Attach', exact: true })
  await tabTo(attach)
  await press('Enter')
  // The next line makes sure that the browser reports choosers before a key opens one.
  const chooser = page.waitForEvent('filechooser')
  await expect(page.getByRole('menuitem', { name: 'File…' })).toBeFocused()
  await press('Enter')
  await (await chooser).setFiles([picture('Venue.png', 900, 600), note('Quote.txt')])
  const view = (name: string) => page.getByRole('button', { name: `View ${name}` })
  const actions = (name: string) => page.getByRole('button', { name: `Actions for ${name}` })
  await expect(view('Venue.png')).toBeVisible()
  await expect(actions('Quote.txt')).toBeVisible()

  await tabTo(view('Venue.png'))
  await press('Enter')
  await expect(page.getByRole('dialog', { name: 'Venue.png' })).toBeVisible()
  await press('Escape')
  await expect(view('Venue.png')).toBeFocused()
  await press('Tab')
  await choose('r', 'Rename')
  await expect(page.locator('input:focus')).toHaveValue('Venue.png')
  await page.keyboard.type('Hall')
  await press('Enter')
  await expect(actions('Hall.png')).toBeFocused()
  await choose('m', 'Make')
  await expect(view('Hall.png, cover')).toBeVisible()
  await waitUntilSaved(page)

  await tabTo(actions('Quote.txt'))
  await choose('End', 'Remove')
  await expect(actions('Quote.txt')).toHaveCount(0)
  await press('Control+z')
  await expect(actions('Quote.txt')).toBeVisible()
  await press('Control+z', 'Control+z') // the cover, and the name
  await expect(view('Venue.png')).toBeVisible()
  await waitUntilSaved(page)
  await press('Control+z', 'Control+z') // the files, one after the other
  await expect(section(page)).toHaveCount(0)
  await waitUntilSaved(page)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Comments and activity' })).toBeVisible()
  await expect(section(page)).toHaveCount(0)

  /** Opens the menu of the button that has the focus, and chooses the item that a key leads to. */
  async function choose(key: string, name: string): Promise<void> {
    await press('Enter')
    await expect(page.locator('[role=menuitem]:focus')).toBeVisible()
    await press(key)
    await expect(page.getByRole('menuitem', { name })).toBeFocused()
    await press('Enter')
  }

  /** Moves the focus forward to an element. */
  async function tabTo(target: Locator): Promise<void> {
    for (let n = 0; n < 80; n++) {
      if (await target.evaluate((node) => node === document.activeElement)) return
      await press('Tab')
    }
    throw new Error('the focus did not reach the element')
  }
})

test.describe('phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

  test('ten photos are attached over a slow network that fails', async ({ page, world, context }) => {
    await shortenPauses(page)
    await openCard(page, world)
    const cdp = await context.newCDPSession(page)
    await cdp.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 50,
      downloadThroughput: 2_000_000,
      uploadThroughput: 2_000_000,
    })
    await page.getByRole('button', { name: 'Attach', exact: true }).tap()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('menuitem', { name: 'File…' }).tap()
    await (await chooser).setFiles(Array.from({ length: 10 }, (_, n) => photo(`Photo ${n + 1}.png`, 20 * n)))
    await expect(section(page).getByRole('progressbar').first()).toBeVisible()
    // The pictures appear as they arrive.
    await expect(page.getByRole('button', { name: /^View Photo/ }).first()).toBeVisible()
    await expect(section(page).getByRole('progressbar').first()).toBeVisible()

    await page.getByRole('button', { name: 'Close', exact: true }).tap()
    const status = page.getByRole('region', { name: 'Uploads' })
    await expect(status).toContainText(/Uploading \d+ files?…/)
    await page.route('**/uploads', (route) => route.abort('connectionreset'))
    await status.getByRole('button', { name: /Uploading/ }).tap()
    await expect(status).toContainText('Trying again…')
    await page.unroute('**/uploads')
    await expect(tile(page, world, 'One')).toContainText('10 attachments', { timeout: 30_000 })
    await tile(page, world, 'One').tap()
    await expect(page.getByRole('button', { name: /^View Photo/ })).toHaveCount(10)
    await expect(section(page).getByRole('progressbar')).toHaveCount(0)
  })
})

/** Returns a picture of more than a megabyte, from which size on uploads can be continued. */
function photo(name: string, hue: number): TestFile {
  const small = picture(name, 640, 480, hue)
  return { ...small, buffer: Buffer.concat([small.buffer, Buffer.alloc(1_500_000, name)]) }
}
