// Helpers for the tests of attached files.
import type { Page } from '@playwright/test'
import { cookiesOf, expect, send, server, type World } from './fixtures'
import { png } from './png'

export type TestFile = { name: string; mimeType: string; buffer: Buffer }
export const picture = (name: string, width = 640, height = 400, hue?: number): TestFile => ({
  name,
  mimeType: 'image/png',
  buffer: png(width, height, hue),
})
export const note = (name: string, size = 18): TestFile => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from('The venue is ours. '.repeat(Math.ceil(size / 19)).slice(0, size)),
})

/** Attaches a file with a direct request. The page treats it as a change by another person. */
export async function attach(page: Page, cardId: string | undefined, file: TestFile): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(file.buffer)], { type: file.mimeType }), file.name)
  const headers = { Origin: server().url, Cookie: await cookiesOf(page) }
  const response = await send(`/api/public/v1/cards/${cardId}/attachments`, { headers, body: form })
  expect(response.ok, await response.clone().text()).toBeTruthy()
  return ((await response.json()) as { data: { id: string } }).data.id
}

export const section = (page: Page) => page.getByRole('region', { name: 'Attachments' })
export const tile = (page: Page, world: World, card: string) => page.locator(`[data-card="${world.cards[card]}"]`)

export async function openCard(page: Page, world: World, card = 'One'): Promise<void> {
  await page.goto(`/cards/${world.cards[card]}`)
  await expect(page.getByRole('heading', { name: 'Comments and activity' })).toBeVisible()
}

/** Chooses files with the Attach button. */
export async function choose(page: Page, files: TestFile[]): Promise<void> {
  await page.getByRole('button', { name: 'Attach', exact: true }).click()
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('menuitem', { name: 'File…' }).click()
  await (await chooser).setFiles(files)
}
