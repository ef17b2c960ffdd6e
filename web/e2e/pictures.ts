// Screenshots of every screen, in light and dark mode, on a desktop and on a phone, and those
// of the documentation, at double resolution.
import { devices, test, type Page } from '@playwright/test'
import { join } from 'node:path'
import { screens, settle, show } from './screens'

const folder = process.env.PICTURES
if (!folder) throw new Error('run scripts/pictures.mjs, which sets the folder')

const desk = { viewport: { width: 1280, height: 800 } }
const phone = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  userAgent: devices['Pixel 7'].userAgent,
}

async function both(page: Page, path: (scheme: string) => string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await settle(page)
    await page.screenshot({ path: path(colorScheme), caret: 'initial' })
  }
}

for (const [size, options] of Object.entries({ desk, phone })) {
  test.describe(size, () => {
    test.use({ ...options, reducedMotion: 'reduce' } as object)
    for (const screen of screens) {
      test(screen.name, async ({ page }) => {
        await show(page, screen)
        await both(page, (scheme) => join(folder, `${screen.name}-${size}-${scheme}.png`))
      })
    }
  })
}

// docs/NAME-light.png and docs/NAME-dark.png.
const documented: Record<string, { size: { width: number; height: number }; on: object }> = {
  board: { size: { width: 1440, height: 780 }, on: desk },
  calendar: { size: { width: 1440, height: 900 }, on: desk },
}

test.describe('documentation', () => {
  for (const [name, { size, on }] of Object.entries(documented)) {
    test.describe(name, () => {
      test.use({ ...on, viewport: size, deviceScaleFactor: 2 } as object)
      test(`docs ${name}`, async ({ page }) => {
        test.skip(!process.env.PICTURES_DOCS, 'only for --docs')
        await show(
          page,
          screens.find((screen) => screen.name === name)!,
        )
        await both(page, (scheme) => join('..', 'docs', `${name}-${scheme}.png`))
      })
    })
  }
})
