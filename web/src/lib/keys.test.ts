import { expect, test } from 'vitest'
import { hideCompositionKeys } from './keys'

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
