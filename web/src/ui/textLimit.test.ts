import { flushSync, mount, unmount } from 'svelte'
import { expect, test } from 'vitest'
import Field from './Field.svelte'
import { lengthOf, tooLong, tooLongLine } from './textLimit.svelte'

test('lengthOf counts code points, as the server does', () => {
  expect(lengthOf('')).toBe(0)
  expect(lengthOf('héllo')).toBe(5)
  expect(lengthOf('👍🏽')).toBe(2)
  expect(tooLong('👍'.repeat(512), 512)).toBeNull()
})

test('tooLong returns a message if the text is over the limit', () => {
  expect(tooLong('x'.repeat(512), 512)).toBeNull()
  expect(tooLong('x'.repeat(17_000), 16_384)).toBe('Not saved: 17,000 characters. Shorten it to 16,384 or fewer.')
})

test('tooLongLine names the first line that is too long', () => {
  expect(tooLongLine('a\nb', 1)).toBeNull()
  expect(tooLongLine(`a\n${'x'.repeat(600)}`, 512)).toBe(
    'Not saved: line 2 has 600 characters. Shorten it to 512 or fewer.',
  )
  expect(tooLongLine('x'.repeat(600), 512)).toBe('Not saved: 600 characters. Shorten it to 512 or fewer.')
})

test('a field over its limit keeps its text, is invalid and shows the reason', () => {
  const component = mount(Field, {
    target: document.body,
    props: { label: 'Title', value: '', limit: 100, hint: 'Hint' },
  })
  flushSync()
  const node = document.querySelector('input')!
  const hint = node.getAttribute('aria-describedby')
  const type = (length: number) => {
    node.value = 'x'.repeat(length)
    node.dispatchEvent(new Event('input', { bubbles: true }))
    flushSync()
  }
  const note = () => document.querySelector('.limit')
  type(90)
  expect(note()).toBeNull()
  type(91)
  expect(note()?.textContent).toBe('91 of 100 characters')
  expect(node.checkValidity()).toBe(true)
  type(101)
  expect(node.value).toHaveLength(101)
  expect(node.checkValidity()).toBe(false)
  expect(node.getAttribute('aria-invalid')).toBe('true')
  expect(note()?.textContent).toBe('Not saved: 101 characters. Shorten it to 100 or fewer.')
  expect(node.getAttribute('aria-describedby')).toBe(`${hint} ${note()!.id}`)
  type(5)
  expect(note()).toBeNull()
  expect(node.checkValidity()).toBe(true)
  expect(node.getAttribute('aria-invalid')).toBeNull()
  expect(node.getAttribute('aria-describedby')).toBe(hint)
  void unmount(component)
})
