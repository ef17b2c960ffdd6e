// Checks the first screen of every route with the keyboard only. Tab reaches each control, which
// is then in view and has a visible focus ring and an accessible name. Escape closes dialogs and
// menus, and returns the focus.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type JSHandle, type Locator, type Page } from '@playwright/test'
import { expect, test } from './fixtures'
import { mainScreens, screens, show } from './screens'
import { screenData } from './screenData'

test.use({ signedIn: false, contextOptions: { reducedMotion: 'reduce' } })

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns the problems of the focused control, and whether all controls have been visited. */
function checkFocusedControl(page: Page): Promise<{ problems: string[]; done: boolean }> {
  return page.evaluate(() => {
    const { reached } = globalThis as unknown as { reached: Set<Element> }
    const control = document.activeElement
    if (!control || control === document.body || control.matches('dialog, .inside'))
      return { problems: [], done: false }
    // Tab also moves through the parts of a date field.
    if (reached.has(control)) return { problems: [], done: !control.matches('input[type=date]') }
    reached.add(control)
    const problems: string[] = []
    const text = control.textContent.trim().slice(0, 40)
    const description = `${control.tagName.toLowerCase()}.${control.className} “${text}”`
    // The ring is on the control, or on the element that represents a visually hidden control.
    const candidates = [control, control.parentElement, control.nextElementSibling, control.closest('label')]
    const ring = candidates.some((box) => {
      if (!box) return false
      const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(box)
      return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && !/, 0\)$|transparent/.test(outlineColor)
    })
    if (!ring) problems.push(`${description} has no visible focus ring`)
    const { top, left, bottom, right, width } = control.getBoundingClientRect()
    if (width > 1 && (bottom < 1 || right < 1 || top > innerHeight - 1 || left > innerWidth - 1)) {
      problems.push(`${description} is out of view`)
    }
    return { problems, done: false }
  })
}

/** Returns the reached controls that have no accessible name. */
function unnamedControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Axe = {
      setup: (root: Element) => void
      teardown: () => void
      commons: { text: { accessibleText: (control: Element) => string } }
    }
    const { reached, axe } = globalThis as unknown as { reached: Set<Element>; axe: Axe }
    axe.setup(document.documentElement)
    const unnamed = [...reached].filter((c) => c.isConnected && !axe.commons.text.accessibleText(c).trim())
    axe.teardown()
    return unnamed.map((control) => control.outerHTML.slice(0, 120))
  })
}

/** Returns the element that contains the focus: an open popover, an open dialog, or the page. */
function focusContainer(page: Page): Promise<JSHandle<HTMLElement>> {
  return page.evaluateHandle(() => {
    const dialog = [...document.querySelectorAll<HTMLElement>('dialog[open]')].at(-1)
    return document.querySelector<HTMLElement>('[popover]:popover-open:not(.tip)') ?? dialog ?? document.body
  })
}

/** Returns the controls that Tab did not reach, except radio buttons and menu items, which have arrow keys. */
function unreachedControls(container: HTMLElement): string[] {
  const { reached } = globalThis as unknown as { reached: Set<Element> }
  const controls = 'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary'
  return [...container.querySelectorAll<HTMLElement>(controls)]
    .filter((c) => c.tabIndex >= 0 && !reached.has(c) && c.checkVisibility({ visibilityProperty: true }))
    .filter((c) => !c.matches('[type=radio], [role=menuitem], [role=menuitemradio]'))
    .map((c) => `${c.tagName.toLowerCase()}.${c.className} ${c.getAttribute('aria-label') ?? c.textContent}`)
}

for (const screen of mainScreens) {
  test(`Tab reaches every control of ${screen.name}`, async ({ page }) => {
    test.slow()
    await show(page, screen)
    await page.evaluate(axeSource)
    await page.evaluate(() => Object.assign(globalThis, { reached: new Set() }))
    const problems: string[] = []
    const container = await focusContainer(page)
    for (let steps = 0; steps < 150; steps++) {
      await page.keyboard.press('Tab')
      const step = await checkFocusedControl(page)
      problems.push(...step.problems)
      if (step.done) break
    }
    expect(problems).toEqual([])
    expect(await unnamedControls(page)).toEqual([])
    expect(await container.evaluate(unreachedControls)).toEqual([])
  })
}

/** Returns a description of the focused control if a part of it is out of view or covered, or "" otherwise. */
function hiddenControl(page: Page): Promise<{ hidden: string; done: boolean }> {
  return page.evaluate(() => {
    const { reached } = globalThis as unknown as { reached: Set<Element> }
    const control = document.activeElement
    if (!control || control === document.body || control.matches('dialog, .inside')) return { hidden: '', done: false }
    if (reached.has(control)) return { hidden: '', done: !control.matches('input[type=date]') }
    reached.add(control)
    const { left, top, right, bottom, height } = control.getBoundingClientRect()
    const inset = 4 // pixels from the edges, inside of rounded corners
    const shown = [left + inset, right - inset].every((x) =>
      [top + inset, bottom - inset].every((y) => control.contains(document.elementFromPoint(x, y))),
    )
    const name = control.getAttribute('aria-label') ?? control.textContent.trim()
    return { hidden: shown || height > innerHeight ? '' : `${control.tagName.toLowerCase()} “${name}”`, done: false }
  })
}

// These screens have lists or tabs that scroll sideways, or a header above what scrolls.
for (const [name, width] of [
  ['board', 1280],
  ['public', 1280],
  ['card', 1280],
  ['members', 700],
  ['calendar', 390],
] as const) {
  test(`Shift+Tab shows the whole of each control of ${name}`, async ({ page }) => {
    test.slow()
    await page.setViewportSize({ width, height: 800 })
    await show(
      page,
      screens.find((screen) => screen.name === name)!,
    )
    await page.evaluate(() => Object.assign(globalThis, { reached: new Set() }))
    const hidden: string[] = []
    for (let steps = 0; steps < 150; steps++) {
      await page.keyboard.press('Shift+Tab')
      const step = await hiddenControl(page)
      if (step.hidden) hidden.push(step.hidden)
      if (step.done) break
    }
    expect(hidden).toEqual([])
  })
}

const openers: Record<string, (page: Page, cardId: string) => Locator> = {
  'home-menu': (page) => page.getByRole('button', { name: 'Demo Person' }),
  'new-board': (page) => page.getByRole('button', { name: 'New board' }).first(),
  'new-board-from-a-template': (page) => page.getByRole('button', { name: 'Templates' }).first(),
  'new-workspace': (page) => page.getByRole('button', { name: 'New workspace' }).last(),
  'board-labels': (page) => page.locator('[data-card] a').first(),
  'board-people': (page) => page.locator('[data-card] a').first(),
  'board-menu': (page) => page.getByRole('button', { name: 'Board menu' }),
  card: (page, id) => page.locator(`#card-${id}`),
  'search-save': (page) => page.getByRole('button', { name: 'Save as filter' }),
  'profile-delete-account': (page) => page.getByRole('button', { name: 'Delete account…' }),
  'token-new': (page) => page.getByRole('button', { name: 'New token' }),
}

for (const [name, opener] of Object.entries(openers)) {
  test(`Escape closes ${name} and returns the focus`, async ({ page }) => {
    await show(
      page,
      screens.find((screen) => screen.name === name)!,
    )
    await page.keyboard.press('Escape')
    await expect(page.locator('dialog[open], [popover]:popover-open:not(.tip)')).toHaveCount(0)
    await expect(opener(page, (await screenData()).cardId)).toBeFocused()
  })
}

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } })

  test('the menu takes the focus, and Escape returns it', async ({ page }) => {
    await show(
      page,
      screens.find((screen) => screen.name === 'home')!,
    )
    const menu = page.getByRole('button', { name: 'Menu', exact: true })
    await menu.focus()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('navigation', { name: 'Workspaces and boards' })
    await expect(drawer.getByRole('link').first()).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(drawer).toBeHidden()
    await expect(menu).toBeFocused()
  })
})
