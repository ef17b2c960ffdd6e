import { expect, test } from 'vitest'
import type { Card } from '../api/types'
import { addDays } from '../state/due'
import { countOf, emptyFilter, readFilter, matcherOf, writeFilter } from './filter'

test('a filter survives a round trip through the URL', () => {
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

test('an unknown value in the URL is ignored', () => {
  expect(readFilter(new URLSearchParams('?due=never&done=maybe'))).toEqual(emptyFilter)
})

test('the filter "week" matches the same cards as due:week: today and the next six days', () => {
  const card = (dueDate: string, dueAt: string | null = null) =>
    ({ title: '', number: 1, done: false, labels: [], assignees: [], dueDate, dueAt }) as unknown as Card
  for (const [now, first, last] of [
    ['2026-11-22T12:00:00Z', '2026-11-22', '2026-11-28'], // a Sunday
    ['2026-11-23T12:00:00Z', '2026-11-23', '2026-11-29'], // a Monday
  ] as const) {
    const at = { now: new Date(now), timeZone: 'UTC', me: 'usr_1', listName: () => '' }
    const week = matcherOf({ ...emptyFilter, due: 'week' }, at).matches
    const typed = matcherOf({ ...emptyFilter, text: 'due:week' }, at).matches
    for (const matches of [week, typed]) {
      expect(matches(card(first))).toBe(true)
      expect(matches(card(first, `${first}T09:00:00.000Z`))).toBe(true) // earlier today: overdue too
      expect(matches(card(last))).toBe(true)
      expect(matches(card(addDays(first, -1)))).toBe(false)
      expect(matches(card(addDays(last, 1)))).toBe(false)
    }
  }
})

test('selected filters and the typed query must both match', () => {
  const at = { now: new Date('2026-11-21T12:00:00Z'), timeZone: 'UTC', me: 'usr_1', listName: () => 'To do' }
  const card = (title: string, labels: string[], dueDate: string | null = null) =>
    ({
      title,
      number: 1,
      done: false,
      labels: labels.map((id) => ({ id, name: id, color: 'red' })),
      assignees: [],
      dueDate,
      dueAt: null,
    }) as unknown as Card
  const filter = { ...emptyFilter, text: 'press -is:done', labels: ['lbl_1'], due: 'week' as const }
  const { matches } = matcherOf(filter, at)
  expect(matches(card('The press', ['lbl_1'], '2026-11-22'))).toBe(true)
  expect(matches(card('The press', [], '2026-11-22'))).toBe(false)
  expect(matches(card('The press', ['lbl_1']))).toBe(false)
  expect(matches(card('The button', ['lbl_1'], '2026-11-22'))).toBe(false)
  expect(matcherOf(emptyFilter, at).matches(card('Anything', []))).toBe(true)
})
