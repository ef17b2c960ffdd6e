import { expect, test } from 'vitest'
import { countOf, emptyFilter, readFilter, writeFilter } from './filter'

test('a filter in the address survives the way there and back', () => {
  const filter = {
    ...emptyFilter,
    text: 'two words',
    labels: ['lbl_1', 'lbl_2'],
    people: ['none'],
    due: 'week' as const,
  }
  expect(readFilter(new URLSearchParams(writeFilter(filter)))).toEqual(filter)
  expect(countOf(filter)).toBe(5)
  expect(writeFilter(emptyFilter)).toBe('')
})

test('an unknown word in the address is left out', () => {
  expect(readFilter(new URLSearchParams('?due=never&done=maybe'))).toEqual(emptyFilter)
})
