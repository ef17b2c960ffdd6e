import { expect, test } from 'vitest'
import { Options } from './options.svelte'

const press = (options: Options<string>, key: string) =>
  options.move(new KeyboardEvent('keydown', { key, cancelable: true }))

test('arrow keys move the active option, and wrap at both ends', () => {
  const options = new Options('list', () => ['a', 'b', 'c'])
  const seen = [options.active]
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp']) {
    expect(press(options, key)).toBe(true)
    seen.push(options.active)
  }
  expect(seen).toEqual(['a', 'b', 'c', 'a', 'c'])
  expect(press(options, 'Enter')).toBe(false)
  options.reset()
  expect(options.active).toBe('a')
})

test('if no option is active at first, the arrow keys start at either end', () => {
  const options = new Options(
    'list',
    () => ['a', 'b', 'c'],
    () => true,
    -1,
  )
  expect(options.active).toBeUndefined()
  expect(options.field['aria-activedescendant']).toBeUndefined()
  press(options, 'ArrowUp')
  expect(options.active).toBe('c')
  options.reset()
  press(options, 'ArrowDown')
  expect(options.active).toBe('a')
})

test('an active option stays in the list when the list becomes shorter', () => {
  let all = ['a', 'b', 'c']
  const options = new Options('list', () => all)
  press(options, 'ArrowUp')
  expect(options.field['aria-activedescendant']).toBe('list-2')
  all = ['a', 'b']
  expect(options.active).toBe('b')
  expect(options.field['aria-activedescendant']).toBe('list-1')
  expect(options.option(1)).toMatchObject({ id: 'list-1', 'aria-selected': true })
  all = []
  expect(options.active).toBeUndefined()
  expect(press(options, 'ArrowDown')).toBe(false)
})

test('a field whose list is closed has no active option', () => {
  let open = false
  const options = new Options(
    'list',
    () => ['a'],
    () => open,
  )
  expect(options.field).toMatchObject({ 'aria-expanded': false, 'aria-activedescendant': undefined })
  open = true
  expect(options.field).toMatchObject({ 'aria-expanded': true, 'aria-activedescendant': 'list-0' })
})
