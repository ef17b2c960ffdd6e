import { expect, type ElementHandle, type Page } from '@playwright/test'

/**
 * Enters 来週の会議 into the focused field as a Japanese input method does: composes 来週, accepts it with Enter, and types
 * the rest.
 */
export async function compose(page: Page, field: ElementHandle): Promise<void> {
  const devTools = await page.context().newCDPSession(page)
  const press = (key: string) =>
    devTools.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key, code: key, windowsVirtualKeyCode: 229 })
  await devTools.send('Input.imeSetComposition', { text: 'らいしゅう', selectionStart: 5, selectionEnd: 5 })
  await press('ArrowDown') // chooses a conversion
  await devTools.send('Input.imeSetComposition', { text: '来週', selectionStart: 2, selectionEnd: 2 })
  await press('Enter') // accepts it
  await devTools.send('Input.insertText', { text: '来週' })
  // In Safari, this event follows the end of the composition.
  await field.dispatchEvent('keydown', { key: 'Enter', code: 'Enter', keyCode: 229, bubbles: true, cancelable: true })
  await devTools.send('Input.insertText', { text: 'の会議' })
  await devTools.detach()
}

const latin = 'qwertyuiopasdfghjklzxcvbnm'

/** What the keys of a US keyboard enter on other layouts, in the same order. Greek has no letter on Q. */
const layouts = {
  Russian: 'йцукенгшщзфывапролдячсмить',
  Greek: 'ςερτυθιοπασδφγηξκλζχψωβνμ',
  Hebrew: "/'קראטוןםפשדגכעיחלךזסבהנמצ",
}

/** Types all characters of a layout into the focused field. */
async function typeAll(page: Page, layout: string): Promise<void> {
  const devTools = await page.context().newCDPSession(page)
  const keys = latin.slice(-layout.length).toUpperCase()
  for (const [i, key] of [...layout].entries()) {
    const event = { key, code: `Key${keys[i]!}`, windowsVirtualKeyCode: keys.charCodeAt(i) }
    await devTools.send('Input.dispatchKeyEvent', { type: 'keyDown', text: key, ...event })
    await devTools.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
  }
  await devTools.detach()
}

// A field for a device code, which has autocapitalize="characters", takes no other letters.
const textFields = [
  'input:not([type]):not([autocapitalize=characters])',
  ...['text', 'search', 'email', 'url'].map((type) => `input[type=${type}]`),
  'textarea',
]

/**
 * Composes text in every field of a page, and types all letters of other layouts. Checks that the keys do nothing else:
 * they do not save an incomplete text, and are not shortcuts.
 */
export async function typeEverywhere(page: Page): Promise<void> {
  const changes: string[] = []
  page.on('request', (request) => request.method() !== 'GET' && changes.push(`${request.method()} ${request.url()}`))
  // If a key acts, the data of the other screens stays as it is.
  await page.route('**/api/**', (route) => (route.request().method() === 'GET' ? route.fallback() : route.abort()))
  for (const field of await page.locator(textFields.join(', ')).elementHandles()) {
    if (!(await field.isVisible()) || !(await field.isEditable())) continue
    const focused = () => field.evaluate((node: HTMLElement) => node === document.activeElement)
    const select = () =>
      field.evaluate((node: HTMLInputElement) => {
        node.focus()
        node.select()
      })
    await select()
    if (!(await focused())) continue // behind a dialog
    const name = await field.evaluate((node: HTMLElement) => node.ariaLabel ?? node.outerHTML)
    const path = () => new URL(page.url()).pathname // a filter is in the query
    const [original, pathBefore] = [await field.inputValue(), path()]
    const expectValue = async (value: string) => {
      const state = { name, value: await field.inputValue(), focused: await focused(), path: path(), changes }
      expect(state).toEqual({ name, value, focused: true, path: pathBefore, changes: [] })
    }
    await compose(page, field)
    await expectValue('来週の会議')
    for (const layout of Object.values(layouts)) {
      await select()
      await typeAll(page, layout)
      await expectValue(layout)
    }
    await field.fill(original) // leaving a changed field may save it
  }
}
