import { expect, test } from 'vitest'
import { hideCompositionKeys, isCommand, keyOf } from './keys'

test('keys of an input method reach no handler', () => {
  hideCompositionKeys()
  const seen: string[] = []
  const log = (event: KeyboardEvent) => void seen.push(`${event.key} ${event.keyCode}`)
  for (const capture of [true, false]) document.addEventListener('keydown', log, { capture })
  const press = (init: KeyboardEventInit) =>
    document.body.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...init }))
  press({ key: 'Enter', keyCode: 13, isComposing: true })
  press({ key: 'Process', keyCode: 229 })
  press({ key: 'Enter', keyCode: 229, isComposing: false }) // Safari, after compositionend
  expect(seen).toEqual([])
  press({ key: 'Enter', keyCode: 13 })
  expect(seen).toEqual(['Enter 13', 'Enter 13'])
})

test.each([
  ['j', 'KeyJ', false, 'j'],
  ['J', 'KeyJ', true, 'j'],
  ['ArrowDown', 'ArrowDown', false, 'ArrowDown'],
  ['о', 'KeyJ', false, 'j'], // Russian
  ['О', 'KeyJ', true, 'j'],
  ['л', 'KeyK', false, 'k'],
  ['ξ', 'KeyJ', false, 'j'], // Greek
  ['ח', 'KeyJ', false, 'j'], // Hebrew
  ['ת', 'Comma', false, ','],
  ['؟', 'Slash', true, '?'], // Arabic
  ['٠', 'Digit0', false, '0'],
  ['ㅓ', 'KeyJ', false, 'j'], // Korean
  ['/', 'Backslash', true, '/'], // Russian: the character counts, not its place
  ['a', 'KeyQ', false, 'a'], // French
  ['é', 'Digit2', false, 'é'],
  ['ı', 'KeyI', false, 'ı'], // Turkish, whose i is elsewhere
])('the key %s at %s with Shift %s is %s', (key, code, shiftKey, want) => {
  expect(keyOf(new KeyboardEvent('keydown', { key, code, shiftKey }))).toBe(want)
})

test('a command has no Alt or Shift', () => {
  const press = (init: KeyboardEventInit) =>
    isCommand(new KeyboardEvent('keydown', { key: 'z', code: 'KeyZ', ...init }), 'z')
  expect(press({ ctrlKey: true })).toBe(true)
  expect(press({ metaKey: true })).toBe(true)
  expect(press({ ctrlKey: true, key: 'я' })).toBe(true)
  expect(press({})).toBe(false)
  expect(press({ ctrlKey: true, shiftKey: true, key: 'Z' })).toBe(false)
  expect(press({ ctrlKey: true, altKey: true })).toBe(false) // AltGr on Windows
  expect(press({ ctrlKey: true, key: 'y', code: 'KeyY' })).toBe(false)
})
