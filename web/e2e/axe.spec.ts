// Every screen, light and dark, on a desktop, and the first screen of each route on a phone:
// there are no axe violations, nothing needs horizontal scrolling, and the window has the right
// title.
import { type Page } from '@playwright/test'
import { axe, expect, test } from './fixtures'
import { mainScreens, screens, settle, show } from './screens'

test.use({ signedIn: false, quiet: true, contextOptions: { reducedMotion: 'reduce' } })

/** Elements that are wider than their container, except the lists of a board, which scroll. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll('main, dialog .inside, [popover]')]
    return boxes
      .filter((box) => box.clientWidth > 0 && box.scrollWidth > box.clientWidth + 1)
      .map((box) => `${box.tagName}.${box.className} is ${box.scrollWidth} wide in ${box.clientWidth}`)
  })
}

const desk = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

for (const [size, options] of Object.entries({ desk, phone })) {
  test.describe(size, () => {
    test.use(options)
    for (const screen of size === 'desk' ? screens : mainScreens) {
      test(screen.name, async ({ page, expected }) => {
        test.slow()
        if (screen.expectFailures) expected.push(/./)
        await show(page, screen)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await settle(page)
          // In dark mode, only the colors differ.
          const rules = colorScheme === 'dark' ? ['color-contrast', 'link-in-text-block'] : undefined
          expect(await axe(page, rules), colorScheme).toEqual([])
        }
        expect(await page.title()).toMatch(/^\S.* · Cardwall$/)
        if (screen.title) expect(await page.title()).toMatch(screen.title)
        expect(await tooWide(page)).toEqual([])
        // A desktop at 200 % zoom, a window as narrow as a phone, and 320 px: a desktop at 400 % zoom.
        for (const [width, height] of size === 'desk'
          ? ([
              [640, 400],
              [390, 844],
            ] as const)
          : ([[320, 640]] as const)) {
          await page.setViewportSize({ width, height })
          await settle(page)
          expect(await tooWide(page), `${width} px wide`).toEqual([])
        }
      })
    }
  })
}

const screen = (name: string) => screens.find((one) => one.name === name)!

for (const name of ['home-menu', 'palette', 'card-due']) {
  test(`nothing moves on ${name} with reduced motion`, async ({ page }) => {
    // Record animations when they start, because they may end before a check.
    await page.addInitScript(() => {
      const noted: string[] = []
      Object.assign(globalThis, { noted })
      const note = (event: AnimationEvent | TransitionEvent) => {
        const { animations } = { animations: (event.target as Element).getAnimations() }
        for (const one of animations) {
          const { duration } = one.effect!.getComputedTiming()
          if (Number(duration) > 1) noted.push(`${(event.target as Element).className}: ${String(duration)} ms`)
        }
      }
      addEventListener('animationstart', note, true)
      addEventListener('transitionrun', note, true)
    })
    await show(page, screen(name))
    expect(await page.evaluate(() => (globalThis as unknown as { noted: string[] }).noted)).toEqual([])
  })
}

for (const name of ['board', 'card', 'my-cards']) {
  test(`${name} prints completely, without the navigation`, async ({ page }) => {
    await show(page, screen(name))
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await settle(page)
    await expect(page.getByRole('navigation', { name: 'Workspaces and boards' })).toBeHidden()
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll('main, main *, dialog[open], dialog[open] *')]
        .filter((box) => {
          const { overflowX, overflowY } = getComputedStyle(box)
          const clips = overflowX !== 'visible' || overflowY !== 'visible'
          return clips && box.clientHeight > 20 && box.scrollHeight > box.clientHeight + 2
        })
        .map((box) => `${box.tagName}.${box.className}`),
    )
    expect(cut).toEqual([])
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(paper).toBe('rgb(255, 255, 255)')
  })
}
