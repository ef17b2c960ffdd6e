import { describe, expect, it } from 'vitest'
import type { Card } from '../../api/types'
import { byBoard, byWhen, whenOf } from './group'
import {
  counted,
  countedLabels,
  quoteName,
  ready,
  queryErrorOf,
  suggest,
  termText,
  withoutTerm,
  wordAt,
  type Names,
} from './query'

const names: Names = {
  boards: ['Launch of the new site', 'Roadmap'],
  lists: ['To do', 'Done'],
  labels: [
    { name: 'Bug', color: 'red' },
    { name: 'Big idea', color: 'sky' },
  ],
  members: ['Ada Lovelace', 'Grace Hopper'],
}
const inserts = (word: string) => suggest(word, names).map((s) => s.insert)

describe('ready', () => {
  const at = { now: new Date('2026-03-04T12:00:00Z'), timeZone: 'UTC', me: 'usr_1', listName: () => '' }
  const typed = (text: string) => ready(text, text.length, names, at)
  it('omits an incomplete term', () => {
    for (const half of [
      'due:',
      'due:tod',
      'due:>',
      'due:2026-0',
      'is:op',
      'no:',
      'label:Bu',
      '@gra',
      'label:"Big',
      'owner:a',
    ]) {
      expect(typed(`press ${half}`)).toBe('press')
      expect(typed(`press -${half}`)).toBe('press')
      expect(ready(`${half} press`, half.length, names, at)).toBe('press')
    }
  })
  it('includes a complete term', () => {
    for (const whole of [
      'due:today',
      'due:>2026-03-01',
      'is:open',
      'label:bug',
      '@me',
      'member:"Grace Hopper"',
      'due:7',
    ]) {
      expect(typed(`press ${whole}`)).toBe(`press ${whole}`)
    }
    expect(typed('press')).toBe('press')
    expect(typed('')).toBe('')
  })
  it('includes a term that is followed by a space', () => {
    expect(typed('owner:a ')).toBe('owner:a')
  })
})

describe('wordAt', () => {
  it('returns the word at the caret', () => {
    expect(wordAt('is:open due:we', 14)).toEqual({ from: 8, word: 'due:we' })
    expect(wordAt('is:open ', 8)).toEqual({ from: 8, word: '' })
    expect(wordAt('board:"Launch of', 16)).toEqual({ from: 0, word: 'board:"Launch of' })
  })
})

describe('suggest', () => {
  it('completes keys, also after a minus', () => {
    expect(inserts('la')).toEqual(['label:'])
    expect(inserts('-me')).toEqual(['-member:'])
    expect(inserts('')).toEqual([])
  })
  it('completes values of a key', () => {
    expect(inserts('is:o')).toEqual(['is:open', 'is:overdue'])
    expect(inserts('is:open')).toEqual([])
    expect(inserts('is:open,d')).toEqual(['is:open,done'])
    expect(inserts('nothing:x')).toEqual([])
  })
  it('completes names, in quotes where they need them', () => {
    expect(inserts('#b')).toEqual(['#Bug', '#"Big idea"'])
    expect(inserts('@love')).toEqual(['@"Ada Lovelace"'])
    expect(inserts('member:m')).toEqual(['member:me'])
    expect(inserts('board:"new')).toEqual(['board:"Launch of the new site"'])
    expect(inserts('-label:Bug')).toEqual([])
  })
})

it('quotes text that the grammar would misread', () => {
  expect(['Bug', 'To do', 'none', 'a"b', '>1', 'x,y'].map(quoteName)).toEqual([
    'Bug',
    '"To do"',
    '"none"',
    '"a\\"b"',
    '">1"',
    '"x,y"',
  ])
})

it('removes a term by its byte range', () => {
  expect(withoutTerm('Zürich is:open due:week', { offset: 8, length: 7 })).toBe('Zürich due:week')
  expect(withoutTerm('is:open', { offset: 0, length: 7 })).toBe('')
})

it('describes terms in words', () => {
  const term = (key: string, values: string[], negated = false) => termText({ key, values, negated, text: '' })
  expect(term('label', ['bug', 'design'], true)).toEqual({ key: 'not Label', value: 'bug or design' })
  expect(term('completed', ['7'])).toEqual({ key: 'Done', value: 'the last 7 days' })
  expect(term('due', ['7']).value).toBe('within 7 days')
  expect(term('sort', ['-updated']).value).toBe('updated, descending')
  expect(term('is', ['open'])).toEqual({ key: 'Is', value: 'open' })
  expect(term('is', ['open'], true)).toEqual({ key: 'Is not', value: 'open' })
})

describe('an error', () => {
  it('is a sentence about a term, with the allowed values', () => {
    const found = queryErrorOf('q: is takes open, done (or both) (at offset 11).', 'Zürich -is:nonsense "a b"')
    expect(found).toMatchObject({ text: 'is takes open, done (or both).', term: '-is:nonsense' })
    expect(found.suggestions[0]).toEqual({ label: '-is:open', query: 'Zürich -is:open "a b"' })
  })
  it('covers a whole quoted value', () => {
    const found = queryErrorOf(
      'q: after a quoted value, label needs a space (at offset 14).',
      'label:"a \\" b"c is:open',
    )
    expect(found).toEqual({
      text: 'after a quoted value, label needs a space.',
      term: 'label:"a \\" b"c',
      suggestions: [],
    })
  })
  it('offers nothing if no value is wrong', () => {
    expect(queryErrorOf('q: sort may be given only once (at offset 9).', 'sort:due sort:due').suggestions).toEqual([])
    expect(queryErrorOf('Can’t reach the server. Check your connection.', 'due:x')).toEqual({
      text: 'Can’t reach the server. Check your connection.',
      suggestions: [],
    })
  })
})

it('counts names', () => {
  expect(counted(['b', 'a', 'b', '', 'c'])).toEqual(['b', 'a', 'c'])
  expect(countedLabels([...names.labels, { name: 'Big idea', color: 'red' }])[0]).toEqual({
    name: 'Big idea',
    color: 'sky',
  })
})

const card = (id: string, boardId: string, dueDate: string | null, dueAt: string | null = null) =>
  ({ id, boardId, dueDate, dueAt }) as Card

describe('groups', () => {
  const now = new Date('2026-11-21T22:30:00Z') // already the 22nd in Zurich, a Sunday
  it('are boards, ordered by their first card', () => {
    const groups = byBoard([card('1', 'b', null), card('2', 'a', null), card('3', 'b', null)])
    expect(groups.map((g) => [g.boardId, g.cards.length])).toEqual([
      ['b', 2],
      ['a', 1],
    ])
  })
  it('are days in the person’s time zone', () => {
    const when = (date: string | null, at: string | null = null, zone = 'Europe/Zurich') =>
      whenOf({ dueDate: date, dueAt: at }, now, zone)
    expect(when('2026-11-21')).toBe('today')
    expect(when('2026-11-21', null, 'Asia/Tokyo')).toBe('overdue')
    expect(when('2026-11-21', '2026-11-21T22:00:00Z')).toBe('overdue')
    expect(when('2026-11-22', null, 'Asia/Tokyo')).toBe('today')
    expect(when('2026-11-27')).toBe('week')
    expect(when('2026-11-28')).toBe('later')
    expect(when(null)).toBe('none')
  })
  it('put the most urgent first, and cards without a time last within a day', () => {
    const cards = [
      card('day', 'a', '2026-11-23'),
      card('none', 'a', null),
      card('time', 'a', '2026-11-23', '2026-11-23T09:00:00Z'),
      card('late', 'a', '2026-11-01'),
    ]
    expect(byWhen(cards, now, 'UTC').map((g) => [g.when, g.cards.map((c) => c.id)])).toEqual([
      ['overdue', ['late']],
      ['week', ['time', 'day']],
      ['none', ['none']],
    ])
  })
})
