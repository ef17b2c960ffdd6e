// Helpers for the tests of attached files.
import type { Page } from '@playwright/test'
import { deflateSync } from 'node:zlib'
import { cookiesOf, expect, send, server, type World } from './fixtures'

/** Returns a PNG picture with a gradient. */
function png(width: number, height: number, hue = 200): Buffer {
  const rows = Buffer.alloc((width * 3 + 1) * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * (width * 3 + 1) + 1 + x * 3
      rows.set([hue, Math.round((255 * x) / width), Math.round((255 * y) / height)], at)
    }
  }
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const chunk = Buffer.alloc(body.length + 8)
    chunk.writeUInt32BE(data.length, 0)
    body.copy(chunk, 4)
    chunk.writeUInt32BE(crc(body), body.length + 4)
    return chunk
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8) // 8 bits per channel, RGB
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function crc(data: Buffer): number {
  let value = 0xffffffff
  for (const byte of data) {
    value ^= byte
    for (let n = 0; n < 8; n++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  }
  return (value ^ 0xffffffff) >>> 0
}

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
