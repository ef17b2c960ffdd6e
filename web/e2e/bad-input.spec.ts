// Hostile text in boards runs no script, loads nothing and does not break the layout.
import type { Page } from '@playwright/test'
import { axe, expect, server, test, titles, waitUntilLoaded } from './fixtures'

const hostileTitles = {
  script: '<script>globalThis.ran = true</script>',
  image: '<img src=x onerror="globalThis.ran = true">',
  template: '{{constructor.constructor("globalThis.ran = true")()}} ${globalThis.ran = true}',
  letters: '\u05D0\u05D1\u05D2 abc \u0627\u0644\u0639\u0631\u0628\u064A\u0629 123',
  marks: `Z${'\u0335\u0321\u031B\u0300'.repeat(60)}algo`,
  word: 'W'.repeat(512),
}

const hostileText = `
[a](javascript:globalThis.ran=true) [b](JaVaScRiPt&colon;globalThis.ran=true) [c](data:text/html,<script>parent.ran=true</script>)
[d](vbscript:x) <javascript:globalThis.ran=true> [safe](https://example.com/)

![picture](http://127.0.0.1:9/pixel.png) ![script](javascript:globalThis.ran=true)

<img src="http://127.0.0.1:9/raw.png" onerror="globalThis.ran=true">
<svg onload="globalThis.ran=true"><script>globalThis.ran=true</script></svg>
<iframe srcdoc="<script>parent.ran=true</script>"></iframe><object data="http://127.0.0.1:9/x"></object>
<style>body { display: none }</style><link rel="stylesheet" href="http://127.0.0.1:9/x.css"><base href="http://127.0.0.1:9/">
<form action="http://127.0.0.1:9/"><input name="password"><button>Send</button></form>
<a href="https://example.com/" style="position:fixed;inset:0" onclick="globalThis.ran=true">over all</a>
<details open ontoggle="globalThis.ran=true"><summary>more</summary></details>
<math><mtext><script>globalThis.ran=true</script></mtext></math>
`

/** Records the requests of the page to other origins. */
function recordExternalRequests(page: Page): string[] {
  const urls: string[] = []
  const own = new URL(server().url).origin
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== own) urls.push(request.url())
  })
  return urls
}

const scriptRan = (page: Page) => page.evaluate(() => 'ran' in globalThis)

/** Returns the horizontal overflow of the page in pixels, and the containers that text overflows. */
const overflow = (page: Page) =>
  page.evaluate(() => {
    const pixels = document.documentElement.scrollWidth - innerWidth
    const containers = [
      ...document.querySelectorAll('.tile, [data-list] header, dialog[open] .inside, dialog[open] .prose'),
    ]
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .map((box) => `${box.className}: ${box.scrollWidth} in ${box.clientWidth}`)
    return { pixels: Math.max(0, pixels), containers }
  })

test('hostile text runs no script, loads nothing and does not break the layout', async ({ page, world }) => {
  test.setTimeout(120_000)
  const externalRequests = recordExternalRequests(page)
  for (const title of Object.values(hostileTitles)) {
    await world.post('/cards', { listId: world.lists.Done, title })
  }
  await world.post(`/boards/${world.boardId}/lists`, { name: hostileTitles.word })
  const bad = await world.post('/cards', {
    listId: world.lists.Doing,
    title: hostileTitles.script,
    description: hostileText,
  })
  await world.post(`/cards/${bad}/comments`, { text: hostileText })
  const long = await world.post('/cards', {
    listId: world.lists.Doing,
    title: 'One long word',
    description: 'w'.repeat(16_384),
  })
  await world.post(`/cards/${long}/comments`, { text: 'w'.repeat(16_384) })

  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    await page.setViewportSize(viewport)
    await page.goto(`/boards/${world.boardId}`)
    await expect(page.getByRole('region', { name: 'Done' }).locator('[data-card]')).toHaveCount(6)
    expect((await titles(page, 'Done'))[0]).toBe(hostileTitles.script)
    expect(await overflow(page)).toEqual({ pixels: 0, containers: [] })

    await page.goto(`/cards/${bad}`)
    const card = page.getByRole('dialog')
    await expect(card.getByRole('link', { name: 'safe' })).toHaveCount(2)
    await expect(card.locator('script, img, iframe, object, style, link, base, svg script, .prose form')).toHaveCount(0)
    const links = await card
      .locator('.prose a[href]')
      .evaluateAll((all) => all.map((a) => ({ to: (a as HTMLAnchorElement).protocol, style: a.getAttribute('style') })))
    expect(links.filter((link) => !/^https?:$/.test(link.to) || link.style)).toEqual([])
    expect(await overflow(page)).toEqual({ pixels: 0, containers: [] })

    await page.goto(`/cards/${long}`)
    await expect(page.getByRole('dialog').locator('.prose')).toHaveCount(2)
    expect(await overflow(page)).toEqual({ pixels: 0, containers: [] })
  }
  await page.emulateMedia({ reducedMotion: 'reduce' })
  expect(await axe(page)).toEqual([])
  expect(await scriptRan(page)).toBe(false)
  expect(externalRequests).toEqual([])
})

test('hostile search queries and URLs run no script', async ({ page, world }) => {
  const attack = '"><img src=x onerror=globalThis.ran=true>'
  for (const path of [
    `/search?q=${encodeURIComponent(attack)}&workspace=${world.workspaceId}`,
    `/boards/${world.boardId}?q=${encodeURIComponent(attack)}`,
    `/boards/${encodeURIComponent(attack)}`,
    `/cards/${encodeURIComponent('../../api')}`,
    '/boards/%E0%A4%A',
    `/sign-in?next=${encodeURIComponent('javascript:globalThis.ran=true')}`,
    '/sign-in?next=//example.com/',
  ]) {
    await page.goto(path)
    await expect(page.locator('body')).not.toBeEmpty() // some of these are not pages and get an error response
    await waitUntilLoaded(page)
    expect(await scriptRan(page), path).toBe(false)
    expect(new URL(page.url()).hostname, path).toBe('localhost')
  }
})
