// Files and links on cards: attaching, uploads, covers and the picture viewer.
import type { Locator, Page } from '@playwright/test'
import { axe, callApi, expect, expectAccessible, hold, leaveControl, test, undo, waitUntilSaved } from './fixtures'
import { attach, choose, note, openCard, picture, section, tile, type TestFile } from './files'
import { signUpPerson } from './person'

const cover = (page: Page, attachmentId: string) =>
  callApi(page, 'PATCH', `/public/v1/attachments/${attachmentId}`, { cover: true })

/** Dispatches drag or paste events with files to an element. */
async function transfer(target: Locator, types: string[], files: TestFile[]): Promise<void> {
  const contents = files.map((f) => ({ ...f, content: f.buffer.toString('base64') }))
  await target.evaluate(
    (node, { types, files }) => {
      const data = new DataTransfer()
      for (const { name, mimeType, content } of files) {
        const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0))
        data.items.add(new File([bytes], name, { type: mimeType }))
      }
      const init = { bubbles: true, cancelable: true, composed: true }
      for (const type of types) {
        node.dispatchEvent(
          type === 'paste'
            ? new ClipboardEvent(type, { ...init, clipboardData: data })
            : new DragEvent(type, { ...init, dataTransfer: data }),
        )
      }
    },
    { types, files: contents.map(({ name, mimeType, content }) => ({ name, mimeType, content })) },
  )
}

const action = async (page: Page, name: string, item: string) => {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

test.beforeEach(async ({ page }) => {
  // The browser scales the pictures, so that the tests do not depend on how the server does it.
  await page.route('**/content?size=*', (route) => route.continue({ url: route.request().url().split('?')[0] }))
})

test('files are attached with the file picker, renamed, removed and restored', async ({ page, world }) => {
  await openCard(page, world)
  await expect(section(page)).toHaveCount(0)
  await choose(page, [picture('Venue.png'), note('Quote.txt'), note('Menu.txt')])
  await expect(page.getByRole('dialog').getByText('3 files were added to “One”.')).toBeAttached()
  await expect(section(page).getByRole('button', { name: 'View Venue.png' })).toBeVisible()
  await expect(section(page).getByRole('link', { name: 'Quote.txt' })).toBeVisible()
  await expect(section(page).getByRole('link', { name: 'Menu.txt' })).toBeVisible()
  await expect(section(page)).toContainText('18 bytes')
  await expect(page.getByRole('dialog').getByText('attached Venue.png')).toBeVisible()

  await action(page, 'Quote.txt', 'Rename')
  await page.keyboard.type('Signed quote')
  await page.keyboard.press('Enter')
  await expect(section(page).getByRole('link', { name: 'Signed quote.txt' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Actions for Signed quote.txt' })).toBeFocused()
  await waitUntilSaved(page)
  await action(page, 'Venue.png', 'Rename')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'Actions for Venue.png' })).toBeFocused()

  await action(page, 'Signed quote.txt', 'Remove')
  await expect(section(page).getByRole('link', { name: 'Signed quote.txt' })).toHaveCount(0)
  await undo(page, 'Signed quote.txt')
  await expect(section(page).getByRole('link', { name: 'Signed quote.txt' })).toBeVisible()
  await waitUntilSaved(page)
  await page.reload()
  await expect(section(page).getByRole('listitem')).toHaveCount(3)
  await expect(section(page).getByRole('link', { name: 'Signed quote.txt' })).toBeVisible()

  const download = page.waitForEvent('download')
  await action(page, 'Menu.txt', 'Download')
  expect((await download).suggestedFilename()).toBe('Menu.txt')
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await expect(tile(page, world, 'One')).toContainText('3 attachments')
})

test('a link is attached, and an address that is not http or https is rejected', async ({ page, world }) => {
  await openCard(page, world)
  await page.getByRole('button', { name: 'Attach', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Link…' }).click()
  await page.getByRole('textbox', { name: 'Address' }).fill('javascript://alert(1)')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Enter a web address')).toBeVisible()
  await page.getByRole('textbox', { name: 'Address' }).fill('example.com/brief')
  await page.getByRole('textbox', { name: 'Name' }).fill('The brief')
  await page.keyboard.press('Enter')
  const link = section(page).getByRole('link', { name: 'The brief' })
  await expect(link).toHaveAttribute('href', 'https://example.com/brief')
  await expect(link).toHaveAttribute('rel', /noopener/)
  await expect(section(page)).toContainText('example.com')
  await waitUntilSaved(page)
  await leaveControl(page)
  await page.locator('dialog .inside').first().focus()
  await page.keyboard.press('Control+z')
  await expect(section(page)).toHaveCount(0)
})

test('files are dropped on a card and on a tile of the board', async ({ page, world }) => {
  await page.clock.install()
  await openCard(page, world)
  const title = page.getByLabel('Title')
  await transfer(title, ['dragover'], [note('Plan.txt')])
  // The drop target must be inside the dialog, because the dialog covers everything outside.
  await expect(page.getByRole('dialog').getByText('Drop files to attach them')).toBeVisible()
  await transfer(title, ['dragleave'], [])
  await expect(page.getByText('Drop files to attach them')).toBeHidden()
  await transfer(title, ['dragover', 'drop'], [note('Plan.txt')])
  await expect(section(page).getByRole('link', { name: 'Plan.txt' })).toBeVisible()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0) // until then, the card takes the files

  const target = tile(page, world, 'Two')
  await transfer(target, ['dragover'], [note('List.txt')])
  await expect(target).toHaveClass(/receiving/)
  await page.clock.pauseAt(Date.now() + 60_000) // the result stays, however slow the machine is
  await transfer(target, ['drop'], [note('List.txt'), note('Map.txt')])
  await expect(target).not.toHaveClass(/receiving/)
  await expect(page.getByRole('region', { name: 'Uploads' })).toContainText('2 files uploaded')
  await expect(target).toContainText('2 attachments')
  await expect(page.getByText('2 files were added to “Two”.')).toBeAttached()
  await page.clock.runFor(5000) // the result is shown for five seconds
  await expect(page.getByRole('region', { name: 'Uploads' })).toHaveCount(0)
})

test('a pasted picture is attached, unless a field can take text from the clipboard instead', async ({
  page,
  world,
}) => {
  await openCard(page, world)
  await transfer(page.locator('dialog .inside').first(), ['paste'], [picture('image.png')])
  await expect(section(page).getByRole('button', { name: /View Picture \d{4}-/ })).toBeVisible()
  const comment = page.getByLabel('Comment', { exact: true })
  await transfer(comment, ['paste'], [picture('Sketch.png')])
  await expect(section(page).getByRole('button', { name: 'View Sketch.png' })).toBeVisible()
  await expect(comment).toHaveValue('')
  await comment.evaluate((node) => {
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File(['x'], 'Cells.png', { type: 'image/png' }))
    clipboardData.setData('text/plain', 'cells')
    const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData })
    document.title = String(node.dispatchEvent(event))
  })
  expect(await page.title(), 'the paste is left to the field').toBe('true')
})

test('an upload shows its progress, can be canceled, and continues on other pages', async ({ page, world }) => {
  await openCard(page, world)
  const release = await hold(page, '**/attachments')
  await choose(page, [note('Slow.txt'), note('Canceled.txt')])
  await expect(section(page).getByRole('progressbar', { name: 'Uploading Slow.txt' })).toBeVisible()
  await page.getByRole('button', { name: 'Cancel upload of Canceled.txt' }).click()
  await expect(section(page).getByText('Canceled.txt')).toHaveCount(0)
  await expect(section(page)).toBeFocused()
  const warns = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })))
  expect(await warns()).toBe(true)
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByRole('link', { name: 'Home' }).click()
  const status = page.getByRole('region', { name: 'Uploads' })
  await expect(status).toContainText('Uploading 1 file…')
  await status.getByRole('button', { name: /Uploading/ }).click()
  await expect(status.getByRole('link', { name: 'One' })).toBeVisible()
  await page.getByRole('button', { name: 'Demo Person' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  const question = page.getByRole('dialog', { name: 'Sign out?' })
  await expect(question).toContainText('1 file is still being uploaded.')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(status).toContainText('Uploading 1 file…')
  release()
  await expect(status).toContainText('1 file uploaded')
  expect(await warns()).toBe(false)
  await openCard(page, world)
  await expect(section(page).getByRole('listitem')).toHaveText([/Slow.txt/])
})

test('an interrupted upload is repeated with the same key, and a rejected one shows the reason', async ({
  page,
  world,
}) => {
  await openCard(page, world)
  const keys: (string | undefined)[] = []
  await page.route('**/attachments', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length === 1) await route.abort('connectionreset')
    else await route.continue()
  })
  await choose(page, [note('Brief.txt')])
  await expect(section(page).getByRole('link', { name: 'Brief.txt' })).toBeVisible()
  expect(keys).toHaveLength(2)
  expect(keys[0]).toBe(keys[1])

  await page.unroute('**/attachments')
  let full = true
  await page.route('**/attachments', (route) =>
    full && route.request().method() === 'POST'
      ? route.fulfill({
          status: 402,
          json: { error: { code: 'plan_limit', message: 'The file is larger than 25 MB.', details: [] } },
        })
      : route.continue(),
  )
  await choose(page, [note('Film.txt')])
  await expect(section(page)).toContainText('The file is larger than 25 MB.')
  const failure = 'Film.txt couldn’t be uploaded: The file is larger than 25 MB.'
  await expect(page.getByRole('dialog').getByText(failure)).toBeAttached()
  full = false
  await section(page).getByRole('button', { name: 'Try again: Film.txt' }).click()
  await expect(section(page).getByRole('link', { name: 'Film.txt' })).toBeVisible()
  await expect(section(page).getByText('larger than')).toHaveCount(0)
})

test('a cover is shown on the tile and removed again', async ({ page, world }) => {
  await attach(page, world.cards.One, picture('Wide.png', 900, 450))
  await openCard(page, world)
  await action(page, 'Wide.png', 'Make cover')
  await expect(section(page).getByText('Cover', { exact: true })).toBeVisible()
  await expect(section(page).getByRole('button', { name: 'View Wide.png, cover' })).toBeVisible()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  const image = tile(page, world, 'One').locator('.cover img')
  await expect(image).toHaveJSProperty('naturalWidth', 900)
  const box = (await tile(page, world, 'One').locator('.cover').boundingBox())!
  expect(box.width / box.height).toBeCloseTo(2, 1)
  await waitUntilSaved(page)
  await page.reload()
  await expect(image).toBeVisible()
  await tile(page, world, 'One').getByRole('link').click()
  await action(page, 'Wide.png', 'Remove')
  await expect(image).toHaveCount(0)
  await undo(page, 'Wide.png')
  await expect(image).toHaveCount(1)
  await action(page, 'Wide.png', 'Remove cover')
  await expect(image).toHaveCount(0)
  await waitUntilSaved(page)
})

test('space for a cover is reserved while it loads', async ({ page, world }) => {
  await cover(page, await attach(page, world.cards.One, picture('Tall.png', 400, 800)))
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/content?size=*', async (route) => {
    await released
    await route.fallback()
  })
  await page.goto(`/boards/${world.boardId}`)
  const before = await tile(page, world, 'Two').boundingBox()
  const height = (await tile(page, world, 'One').locator('.cover').boundingBox())!.height
  expect(height).toBe(160)
  const loaded = page.waitForResponse(/content/)
  release()
  await loaded
  await expect(tile(page, world, 'One').locator('img')).toHaveJSProperty('complete', true)
  expect(await tile(page, world, 'Two').boundingBox()).toEqual(before)
})

test('changes by others appear in the open card', async ({ page, world }) => {
  await openCard(page, world)
  const id = await attach(page, world.cards.One, picture('Theirs.png'))
  await expect(section(page).getByRole('button', { name: 'View Theirs.png' })).toBeVisible()
  await cover(page, id)
  await expect(section(page).getByText('Cover', { exact: true })).toBeVisible()
})

test('the viewer is used with the keyboard', async ({ page, world }) => {
  for (const name of ['First.png', 'Second.png', 'Third.png']) {
    await attach(page, world.cards.One, picture(name, 1800, 900))
  }
  await openCard(page, world)
  const thumbnail = page.getByRole('button', { name: 'View Second.png' })
  await thumbnail.focus()
  await page.keyboard.press('Enter')
  const viewer = page.getByRole('dialog', { name: 'Second.png' })
  await expect(viewer).toContainText('2 of 3')
  const image = page.getByRole('img', { name: 'Second.png' })
  await expect(image).toHaveJSProperty('naturalWidth', 1800)
  const fitted = (await image.boundingBox())!.width
  expect(fitted).toBeLessThanOrEqual(page.viewportSize()!.width)
  await page.keyboard.press('+')
  await expect.poll(async () => (await image.boundingBox())!.width).toBeCloseTo(fitted * 1.5, -1)
  await page.keyboard.press('-')
  await page.keyboard.press('+')
  await page.keyboard.press('0')
  await expect.poll(async () => (await image.boundingBox())!.width).toBe(fitted)
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('dialog', { name: 'Third.png' })).toContainText('3 of 3')
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('dialog', { name: 'Third.png' })).toBeVisible()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect(page.getByRole('dialog', { name: 'First.png' })).toContainText('1 of 3')
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog', { name: 'First.png' })).toHaveCount(0)
  await expect(thumbnail).toBeFocused()
})

test('the viewer is used with the mouse', async ({ page, world }) => {
  for (const name of ['First.png', 'Second.png']) await attach(page, world.cards.One, picture(name, 400, 300))
  await openCard(page, world)
  await page.getByRole('button', { name: 'View First.png' }).click()
  const next = page.getByRole('button', { name: 'Next' })
  await next.click()
  const viewer = page.getByRole('dialog', { name: 'Second.png' })
  await expect(viewer.getByRole('status').filter({ hasText: 'Second.png, 2 of 2' })).toBeAttached()
  await expect(next).toHaveAttribute('aria-disabled', 'true')
  await expect(next).toBeFocused()

  const box = (await page.getByRole('img', { name: 'Second.png' }).boundingBox())!
  const drag = async (from: number, to: number) => {
    await page.mouse.move(box.x + from, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + to, box.y + 10, { steps: 5 })
    await page.mouse.up()
  }
  await drag(10, -30) // from the picture to the background
  await drag(-30, -150) // on the background
  await drag(10, 200) // on the picture
  await expect(viewer).toBeVisible()
  await page.mouse.click(box.x - 30, box.y + 10)
  await expect(viewer).toHaveCount(0)
})

test('a viewer of the board sees attachments without actions', async ({ page, world, browser }) => {
  await attach(page, world.cards.One, picture('Shared.png'))
  await attach(page, world.cards.One, note('Shared.txt'))
  const grace = await signUpPerson(browser, world, 'guest')
  await callApi(page, 'PUT', `/public/v1/boards/${world.boardId}/members/${grace.id}`, { role: 'viewer' })
  await openCard(grace.page, world)
  await expect(section(grace.page).getByRole('link', { name: 'Shared.txt' })).toBeVisible()
  await expect(section(grace.page).getByRole('button')).toHaveCount(1) // opens the picture
  await expect(grace.page.getByRole('button', { name: 'Attach', exact: true })).toHaveCount(0)
  await transfer(grace.page.getByLabel('Title'), ['dragover', 'drop'], [note('Unwanted.txt')])
  await expect(grace.page.getByText('Drop files to attach them')).toHaveCount(0)
  await grace.close()
})

test('attachments that failed to load can be loaded again', async ({ page, world }) => {
  await attach(page, world.cards.One, note('Late.txt'))
  let broken = true
  await page.route('**/attachments?*', (route) =>
    broken
      ? route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'Broken.' } } })
      : route.continue(),
  )
  await openCard(page, world)
  await expect(section(page).getByRole('alert')).toContainText('The attachments couldn’t be loaded.')
  broken = false
  await section(page).getByRole('button', { name: 'Try again' }).click()
  await expect(section(page).getByRole('link', { name: 'Late.txt' })).toBeVisible()
})

test('attachments are accessible', async ({ page, world }) => {
  const names = ['Stage.png', 'A picture with a very long name that does not fit.png', 'Hall.png']
  for (const [n, name] of names.entries()) await attach(page, world.cards.One, picture(name, 800, 500, n * 90))
  await attach(
    page,
    world.cards.One,
    note('Contract with a very long name, signed by both parties on Monday.txt', 120_000),
  )
  await world.post(`/cards/${world.cards.One}/attachments`, { url: 'https://example.com/brief', name: 'Brief' })
  await openCard(page, world)
  await page.route('**/attachments', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 402, json: { error: { code: 'plan_limit', message: 'The file is too large.' } } })
      : route.continue(),
  )
  await choose(page, [note('Film.txt')])
  await expect(section(page)).toContainText('The file is too large.')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByRole('button', { name: /couldn’t be uploaded/ }).click()
  await expectAccessible(page)
})

test.describe('phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })

  test('a picture is attached, viewed and swiped on a phone', async ({ page, world, context }) => {
    await openCard(page, world)
    await choose(page, [picture('Left.png', 900, 600)])
    await expect(page.getByRole('button', { name: 'View Left.png' })).toBeVisible()
    await choose(page, [picture('Right.png', 600, 900, 20)])
    await expect(page.getByRole('button', { name: 'View Right.png' })).toBeVisible()
    await page.getByRole('button', { name: 'View Left.png' }).tap()
    await expect(page.getByRole('dialog', { name: 'Left.png' })).toContainText('1 of 2')
    const cdp = await context.newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) =>
      cdp.send('Input.dispatchTouchEvent', { type, touchPoints: x === undefined ? [] : [{ x, y: 400 }] })
    await touch('touchStart', 320)
    await touch('touchMove', 200)
    await touch('touchMove', 90)
    await touch('touchEnd')
    await expect(page.getByRole('dialog', { name: 'Right.png' })).toContainText('2 of 2')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await axe(page)).toEqual([])
    await page.getByRole('button', { name: 'Close' }).last().tap()
    await expect(page.getByRole('button', { name: 'View Left.png' })).toBeVisible()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })
})
