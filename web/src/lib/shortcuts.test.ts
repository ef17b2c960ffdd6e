import { afterEach, expect, test } from 'vitest'
import { isShortcut } from './shortcuts'

afterEach(() => document.body.replaceChildren())

/** Reports whether a key pressed on the element #at is a shortcut. */
function press(html: string, key: string, init: KeyboardEventInit = {}): boolean {
  document.body.innerHTML = html
  let shortcut = false
  const listener = (event: KeyboardEvent) => (shortcut = isShortcut(event, document.querySelector('#within')))
  document.addEventListener('keydown', listener, { once: true })
  const at = document.querySelector('#at') ?? document.body
  at.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init }))
  return shortcut
}

test('a letter is a shortcut on the page and on a card', () => {
  expect(press('<main></main>', 'e')).toBe(true)
  expect(press('<li data-card="1"><a id="at" href="/cards/1">One</a></li>', 'e')).toBe(true)
  expect(press('<a id="at" data-item="1" href="/cards/1">One</a>', 't')).toBe(true)
  expect(press('<a id="at" aria-current="page" href="/boards/1">Plan</a>', 'c')).toBe(true)
  expect(press('<dialog id="within"><div id="at" tabindex="-1"></div></dialog>', 's')).toBe(true)
})

test('a letter is not a shortcut on a control', () => {
  expect(press('<button id="at">Add checklist</button>', 'e')).toBe(false)
  expect(press('<button><span id="at">Add checklist</span></button>', 's')).toBe(false)
  expect(press('<li data-card="1"><button id="at">Edit title</button></li>', 'x')).toBe(false)
  expect(press('<a id="at" href="/">Home</a>', 'c')).toBe(false)
  expect(press('<input id="at" type="checkbox">', ' ')).toBe(false)
  expect(press('<button id="at">Star</button>', 'Delete')).toBe(false)
})

test('no key is a shortcut in a field, a popover or another dialog', () => {
  expect(press('<textarea id="at"></textarea>', 'ArrowUp')).toBe(false)
  expect(press('<div popover id="at"></div>', 'Escape')).toBe(false)
  expect(press('<dialog id="within"><dialog><p id="at"></p></dialog></dialog>', 'd')).toBe(false)
})

test('arrow keys, Escape and combinations are shortcuts on a button', () => {
  expect(press('<button id="at">Star</button>', 'ArrowDown')).toBe(true)
  expect(press('<button id="at">Star</button>', 'Escape')).toBe(true)
  expect(press('<button id="at">Star</button>', 'z', { ctrlKey: true })).toBe(true)
})
