// Checks every screen on a desktop, and the first screen of each route on a phone, in light and
// dark mode: no axe violations, no horizontal scrolling, and the right window title. On a desktop,
// a key of an input method or of another layout enters text in every field, and does nothing else.
import { type Page } from '@playwright/test'
import { typeEverywhere } from './compose'
import { axe, expect, test } from './fixtures'
import { mainScreens, screens, settle, show } from './screens'

test.use({ signedIn: false, failOnFailedRequests: true, contextOptions: { reducedMotion: 'reduce' } })

/** Returns the containers whose content is too wide, except the lists of a board, which scroll. */
function horizontalOverflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll('main, dialog .inside, [popover]')]
    return boxes
      .filter((box) => box.clientWidth > 0 && box.scrollWidth > box.clientWidth + 1)
      .map((box) => `${box.tagName}.${box.className}: content of ${box.scrollWidth} px in ${box.clientWidth} px`)
  })
}

const desktop = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

for (const [size, options] of Object.entries({ desktop, phone })) {
  test.describe(size, () => {
    test.use(options)
    for (const screen of size === 'desktop' ? screens : mainScreens) {
      test(screen.name, async ({ page, expectedFailures }) => {
        test.slow()
        if (screen.expectFailures) expectedFailures.push(/./)
        await show(page, screen)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await settle(page)
          // In dark mode only the colors differ, so only the rules about colors run.
          const rules = colorScheme === 'dark' ? ['color-contrast', 'link-in-text-block'] : undefined
          expect(await axe(page, rules), colorScheme).toEqual([])
        }
        expect(await page.title()).toMatch(/^\S.* · Cardwall$/)
        if (screen.title) expect(await page.title()).toMatch(screen.title)
        expect(await horizontalOverflow(page)).toEqual([])
        // 700 px is a small tablet, 640 px a desktop at 200% zoom, 390 px a narrow window, and 320 px a desktop at 400% zoom.
        for (const [width, height] of size === 'desktop'
          ? ([
              [700, 900],
              [640, 400],
              [390, 844],
            ] as const)
          : ([[320, 640]] as const)) {
          await page.setViewportSize({ width, height })
          await settle(page)
          expect(await horizontalOverflow(page), `${width} px wide`).toEqual([])
        }
        if (size === 'desktop') {
          await page.setViewportSize(desktop.viewport)
          await typeEverywhere(page)
        }
      })
    }
  })
}

const screen = (name: string) => screens.find((candidate) => candidate.name === name)!

for (const name of ['home-menu', 'palette', 'card-due']) {
  test(`${name} has no animations with reduced motion`, async ({ page }) => {
    // Record animations when they start, because they may end before a check.
    await page.addInitScript(() => {
      const recorded: string[] = []
      Object.assign(globalThis, { recorded })
      const record = (event: AnimationEvent | TransitionEvent) => {
        for (const animation of (event.target as Element).getAnimations()) {
          const { duration } = animation.effect!.getComputedTiming()
          if (Number(duration) > 1) recorded.push(`${(event.target as Element).className}: ${String(duration)} ms`)
        }
      }
      addEventListener('animationstart', record, true)
      addEventListener('transitionrun', record, true)
    })
    await show(page, screen(name))
    expect(await page.evaluate(() => (globalThis as unknown as { recorded: string[] }).recorded)).toEqual([])
  })
}

for (const name of ['calendar', 'calendar-week', 'home', 'search-results', 'public', 'public-card', 'board-menu']) {
  test(`${name} is printed without controls`, async ({ page }) => {
    await show(page, screen(name))
    await page.emulateMedia({ media: 'print' })
    await settle(page)
    const printed = await page.evaluate(() => {
      const controls = [...document.querySelectorAll('button, a.button, input, select, textarea, .toaster, [popover]')]
      const backdrops = [...document.querySelectorAll('dialog[open]')].filter(
        (dialog) => getComputedStyle(dialog, '::backdrop').display !== 'none',
      )
      return [...controls.filter((c) => c.checkVisibility() && !c.matches('.name')), ...backdrops].map(
        (c) => `${c.tagName} ${c.getAttribute('aria-label') ?? c.textContent.trim()}`,
      )
    })
    expect(printed).toEqual([])
    if (name.startsWith('calendar')) await expect(page.locator('[data-item]').first()).toBeVisible()
  })
}

for (const name of ['board', 'card', 'my-cards']) {
  test(`${name} is printed in full and without the navigation`, async ({ page }) => {
    await show(page, screen(name))
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await settle(page)
    await expect(page.getByRole('navigation', { name: 'Workspaces and boards' })).toBeHidden()
    const clipped = await page.evaluate(() =>
      [...document.querySelectorAll('main, main *, dialog[open], dialog[open] *')]
        .filter((box) => {
          const { overflowX, overflowY } = getComputedStyle(box)
          const clips = overflowX !== 'visible' || overflowY !== 'visible'
          return clips && box.clientHeight > 20 && box.scrollHeight > box.clientHeight + 2
        })
        .map((box) => `${box.tagName}.${box.className}`),
    )
    expect(clipped).toEqual([])
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(background).toBe('rgb(255, 255, 255)')
  })
}
