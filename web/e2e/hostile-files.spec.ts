// Attached files whose scripts must not run, however a browser loads them.
import type { Page } from '@playwright/test'
import { cookiesOf, expect, send, server, test } from './fixtures'

/** The path that the scripts request, with the path of their document. */
const mark = '/script-ran'
const script = `fetch('${mark}?'+location.pathname.slice(1));new Image().src='${mark}?'+location.pathname.slice(1);document.title='ran'`
const html = `<!doctype html><meta charset="utf-8"><script>${script}</script><img src=x onerror="${script}"><body onload="${script}">`
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((p) => (typeof p === 'string' ? Buffer.from(p, 'latin1') : Buffer.from(p))))
const gif = [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff]

/** Documents with scripts, and files that are a document and something else. */
const files: Record<string, Buffer> = {
  'page.html': bytes(html),
  'page.png': bytes(html),
  'page.txt': bytes('Notes\n\n', html),
  'late.txt': bytes(' '.repeat(4000), html),
  'utf16.html': bytes([0xff, 0xfe], Buffer.from(html, 'utf16le').toString('latin1')),
  'utf7.html': bytes('+ADw-script+AD4-', script, '+ADw-/script+AD4-'),
  'page.xhtml': bytes(
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`,
  ),
  'picture.svg': bytes(`<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"><script>${script}</script></svg>`),
  'sheet.xml': bytes(
    '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><x><xsl:stylesheet id="s" version="1.0" ' +
      'xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">' +
      `<script>${script}</script></xsl:template></xsl:stylesheet></x>`,
  ),
  'page.mhtml': bytes(`MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html}`),
  'script.js': bytes(script),
  'script.gif': bytes(`GIF89a/*`, [1, 0, 1, 0, 0, 0], `*/=1;${script}`),
  'page.gif': bytes(gif, html),
  'page.jpg': bytes([0xff, 0xd8, 0xff, 0xe0, 0, 16], 'JFIF\0', [1, 1, 0, 0, 1, 0, 1, 0, 0], html),
  'page.mp4': bytes([0, 0, 0, 24], 'ftypisom', [0, 0, 2, 0], 'isommp42', html),
  'page.webm': bytes([0x1a, 0x45, 0xdf, 0xa3], html),
  'action.pdf': bytes(
    `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(${script.replaceAll(/[()]/g, '\\$&')})>>>>endobj\n` +
      '2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF',
  ),
  'page.pdf': bytes('%PDF-1.4\n', html),
  '"><img src=x onerror=alert(1)>.png': bytes(html),
}

async function attach(page: Page, cardId: string | undefined, name: string, content: Buffer): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(content)]), name)
  const headers = { Origin: server().url, Cookie: await cookiesOf(page) }
  const response = await send(`/api/public/v1/cards/${cardId}/attachments`, { headers, body: form })
  expect(response.ok, await response.clone().text()).toBeTruthy()
  const { data } = (await response.json()) as { data: { id: string } }
  return `/api/public/v1/attachments/${data.id}/content`
}

/** Loads content in every way in which a page of the same origin can. */
function loadEverywhere(url: string): void {
  const add = (name: string, attributes: Record<string, string>) => {
    const element = document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    document.body.append(element)
  }
  for (const name of ['iframe', 'embed', 'img', 'video', 'script']) add(name, { src: url })
  add('object', { data: url })
  add('script', { type: 'module', src: url })
  add('link', { rel: 'stylesheet', href: url })
  new Worker(url)
  void navigator.serviceWorker.register(url).catch(() => undefined)
  add('iframe', { srcdoc: `<iframe src="${url}"></iframe>` })
}

test('no script of an attached file runs', async ({ page, world, context }) => {
  test.setTimeout(120_000)
  let ran: string[] = []
  await context.route(
    (url) => url.pathname === mark,
    (route) => {
      ran.push(new URL(route.request().url()).search)
      return route.fulfill({ body: '' })
    },
  )
  // The pages of the application have a strict policy. /blank has none, so only the file's own headers protect it.
  const blank = { contentType: 'text/html', body: '<!doctype html><title>Blank</title><body>' }
  await context.route('**/blank', (route) => route.fulfill(blank))
  await context.route('**/control', (route) => route.fulfill({ contentType: 'text/html', body: html }))
  const tab = await context.newPage() // in the tab of the test, each blocked script would be an error
  for (const [name, content] of Object.entries(files)) {
    const url = await attach(page, world.cards.One, name, content)
    // The script of the document that is loaded last does run, and shows that the script of the file would have.
    const control = () => expect.poll(() => ran, { message: name }).toContain('?control')
    ran = []
    await tab.goto('/blank')
    await tab.evaluate(loadEverywhere, url)
    await tab.evaluate(loadEverywhere, '/control')
    await control()
    expect(await tab.title(), name).toBe('Blank')
    // A registration exists until its script has been refused.
    const workers = () => tab.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)
    await expect.poll(workers, { message: name }).toBe(0)

    const shown = await tab.goto(url).catch(() => null) // a download is reported as an error
    if (shown) expect(await tab.title(), name).not.toBe('ran')
    await tab.goto('/control')
    await control()
    expect(new Set(ran), name).toEqual(new Set(['?control']))
  }
})
