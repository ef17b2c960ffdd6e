import { expect, test } from 'vitest'
import { lengthOf, tooLong, tooLongLine } from './limit.svelte'

test('characters are counted as the server counts them', () => {
  expect(lengthOf('')).toBe(0)
  expect(lengthOf('héllo')).toBe(5)
  expect(lengthOf('👍🏽')).toBe(2)
  expect(tooLong('👍'.repeat(512), 512)).toBeNull()
})

test('a text over its limit is refused in words', () => {
  expect(tooLong('x'.repeat(512), 512)).toBeNull()
  expect(tooLong('x'.repeat(17_000), 16_384)).toBe('Not saved: 17,000 characters. Shorten it to 16,384 or fewer.')
})

test('of lines, the first that is too long is named', () => {
  expect(tooLongLine('a\nb', 1)).toBeNull()
  expect(tooLongLine(`a\n${'x'.repeat(600)}`, 512)).toBe(
    'Not saved: line 2 has 600 characters. Shorten it to 512 or fewer.',
  )
  expect(tooLongLine('x'.repeat(600), 512)).toBe('Not saved: 600 characters. Shorten it to 512 or fewer.')
})
