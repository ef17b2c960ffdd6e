import { expect, test } from 'vitest'
import type { Card } from '../api/types'
import { addDays } from '../state/due'
import { countOf, emptyFilter, readFilter, matcherOf, writeFilter } from './filter'

test('readFilter reads what writeFilter writes', () => {
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

test('readFilter ignores unknown values', () => {
  expect(readFilter(new URLSearchParams('?due=never&done=maybe'))).toEqual(emptyFilter)
})

test('the filter "week" matches today and the next six days, as due:week does', () => {
  const card = (dueDate: string, dueAt: string | null = null) =>
    ({ title: '', number: 1, done: false, labels: [], assignees: [], dueDate, dueAt }) as unknown as Card
  for (const [now, first, last] of [
    ['2026-11-22T12:00:00Z', '2026-11-22', '2026-11-28'], // a Sunday
    ['2026-11-23T12:00:00Z', '2026-11-23', '2026-11-29'], // a Monday
  ] as const) {
    const context = { now: new Date(now), timeZone: 'UTC', me: 'usr_1', listName: () => '' }
    const week = matcherOf({ ...emptyFilter, due: 'week' }, context).matches
    const typedWeek = matcherOf({ ...emptyFilter, text: 'due:week' }, context).matches
    for (const matches of [week, typedWeek]) {
      expect(matches(card(first))).toBe(true)
      expect(matches(card(first, `${first}T09:00:00.000Z`))).toBe(true) // earlier today, so also overdue
      expect(matches(card(last))).toBe(true)
      expect(matches(card(addDays(first, -1)))).toBe(false)
      expect(matches(card(addDays(last, 1)))).toBe(false)
    }
  }
})

test('a card must match both the selected filters and the typed query', () => {
  const context = { now: new Date('2026-11-21T12:00:00Z'), timeZone: 'UTC', me: 'usr_1', listName: () => 'To do' }
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
  const { matches } = matcherOf(filter, context)
  expect(matches(card('The press', ['lbl_1'], '2026-11-22'))).toBe(true)
  expect(matches(card('The press', [], '2026-11-22'))).toBe(false)
  expect(matches(card('The press', ['lbl_1']))).toBe(false)
  expect(matches(card('The button', ['lbl_1'], '2026-11-22'))).toBe(false)
  expect(matcherOf(emptyFilter, context).matches(card('Anything', []))).toBe(true)
})
