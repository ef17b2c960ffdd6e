// Takes screenshots of every screen in light and dark mode, on a desktop and on a phone. With
// --docs, it also takes the screenshots of the documentation, at double resolution.
import { devices, test, type Page } from '@playwright/test'
import { join } from 'node:path'
import { screens, settle, show } from './screens'

const folder = process.env.PICTURES
if (!folder) throw new Error('PICTURES is not set. Run scripts/pictures.mjs.')

const desktop = { viewport: { width: 1280, height: 800 } }
const phone = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  userAgent: devices['Pixel 7'].userAgent,
}

/** Takes a screenshot in light and in dark mode. */
async function capture(page: Page, path: (scheme: string) => string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await settle(page)
    await page.screenshot({ path: path(colorScheme), caret: 'initial' })
  }
}

for (const [size, options] of Object.entries({ desktop, phone })) {
  test.describe(size, () => {
    test.use({ ...options, reducedMotion: 'reduce' } as object)
    for (const screen of screens) {
      test(screen.name, async ({ page }) => {
        await show(page, screen)
        await capture(page, (scheme) => join(folder, `${screen.name}-${size}-${scheme}.png`))
      })
    }
  })
}

/** The screens in docs/NAME-light.png and docs/NAME-dark.png, by name. */
const docsScreens: Record<string, { size: { width: number; height: number }; device: object }> = {
  board: { size: { width: 1440, height: 780 }, device: desktop },
  calendar: { size: { width: 1440, height: 900 }, device: desktop },
}

test.describe('documentation', () => {
  for (const [name, { size, device }] of Object.entries(docsScreens)) {
    test.describe(name, () => {
      test.use({ ...device, viewport: size, deviceScaleFactor: 2 } as object)
      test(`docs ${name}`, async ({ page }) => {
        test.skip(!process.env.PICTURES_DOCS, 'only with --docs')
        await show(
          page,
          screens.find((screen) => screen.name === name)!,
        )
        await capture(page, (scheme) => join('..', 'docs', `${name}-${scheme}.png`))
      })
    })
  }
})
