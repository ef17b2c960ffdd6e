import { describe, expect, it } from 'vitest'
import type { Card } from '../../api/types'
import { dueGroupOf, groupByBoard, groupByDue } from './group'
import {
  byFrequency,
  labelsByFrequency,
  quoteName,
  runnablePart,
  queryErrorOf,
  suggest,
  termText,
  withoutTerm,
  wordAt,
  type Names,
} from './query'

const names: Names = {
  boards: ['Launch of the new site', 'Roadmap', 'Zürich'],
  lists: ['To do', 'Done'],
  labels: [
    { name: 'Bug', color: 'red' },
    { name: 'Big idea', color: 'sky' },
  ],
  members: ['Ada Lovelace', 'Grace Hopper'],
}
const inserts = (word: string) => suggest(word, names).map((s) => s.insert)

describe('runnablePart', () => {
  const context = { now: new Date('2026-03-04T12:00:00Z'), timeZone: 'UTC', me: 'usr_1', listName: () => '' }
  const partOf = (text: string) => runnablePart(text, text.length, names, context)
  it('omits an incomplete term', () => {
    for (const incomplete of [
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
      expect(partOf(`press ${incomplete}`)).toBe('press')
      expect(partOf(`press -${incomplete}`)).toBe('press')
      expect(runnablePart(`${incomplete} press`, incomplete.length, names, context)).toBe('press')
    }
  })
  it('includes a complete term', () => {
    for (const complete of [
      'due:today',
      'due:>2026-03-01',
      'is:open',
      'label:bug',
      'board:ZÜRICH',
      '@me',
      'member:"Grace Hopper"',
      'due:7',
    ]) {
      expect(partOf(`press ${complete}`)).toBe(`press ${complete}`)
    }
    expect(partOf('press')).toBe('press')
    expect(partOf('')).toBe('')
  })
  it('includes a term that is followed by a space', () => {
    expect(partOf('owner:a ')).toBe('owner:a')
  })
})

describe('wordAt', () => {
  it('returns the word before the caret', () => {
    expect(wordAt('is:open due:we', 14)).toEqual({ from: 8, word: 'due:we' })
    expect(wordAt('is:open ', 8)).toEqual({ from: 8, word: '' })
    expect(wordAt('board:"Launch of', 16)).toEqual({ from: 0, word: 'board:"Launch of' })
  })
})

describe('suggest', () => {
  it('completes keys, also after a minus', () => {
    expect(inserts('la')).toEqual(['label:'])
    expect(inserts('-me')).toEqual(['-member:'])
    expect(inserts('att')).toEqual(['attachment:'])
    expect(inserts('')).toEqual([])
  })
  it('completes values of a key', () => {
    expect(inserts('is:o')).toEqual(['is:open', 'is:overdue'])
    expect(inserts('is:open')).toEqual([])
    expect(inserts('is:open,d')).toEqual(['is:open,done'])
    expect(inserts('has:a')).toEqual(['has:attachment', 'has:assignee'])
    expect(inserts('nothing:x')).toEqual([])
  })
  it('completes names and quotes them if necessary', () => {
    expect(inserts('#b')).toEqual(['#Bug', '#"Big idea"'])
    expect(inserts('@love')).toEqual(['@"Ada Lovelace"'])
    expect(inserts('member:m')).toEqual(['member:me'])
    expect(inserts('board:ZÜ')).toEqual(['board:Zürich'])
    expect(inserts('board:"new')).toEqual(['board:"Launch of the new site"'])
    expect(inserts('-label:Bug')).toEqual([])
  })
})

it('quoteName quotes names that the grammar would misread', () => {
  expect(['Bug', 'To do', 'none', 'a"b', '>1', 'x,y'].map(quoteName)).toEqual([
    'Bug',
    '"To do"',
    '"none"',
    '"a\\"b"',
    '">1"',
    '"x,y"',
  ])
})

it('withoutTerm removes a term by its byte range', () => {
  expect(withoutTerm('Zürich is:open due:week', { offset: 8, length: 7 })).toBe('Zürich due:week')
  expect(withoutTerm('is:open', { offset: 0, length: 7 })).toBe('')
})

it('termText describes terms', () => {
  const term = (key: string, values: string[], negated = false) => termText({ key, values, negated, text: '' })
  expect(term('label', ['bug', 'design'], true)).toEqual({ key: 'not Label', value: 'bug or design' })
  expect(term('completed', ['7'])).toEqual({ key: 'Done', value: 'the last 7 days' })
  expect(term('due', ['7']).value).toBe('within 7 days')
  expect(term('completed', ['1']).value).toBe('the last day')
  expect(term('due', ['1']).value).toBe('within 1 day')
  expect(term('sort', ['-updated']).value).toBe('updated, descending')
  expect(term('is', ['open'])).toEqual({ key: 'Is', value: 'open' })
  expect(term('is', ['open'], true)).toEqual({ key: 'Is not', value: 'open' })
})

describe('queryErrorOf', () => {
  it('returns a sentence, the invalid term and suggestions', () => {
    const error = queryErrorOf('q: is takes open, done (or both) (at offset 11).', 'Zürich -is:nonsense "a b"')
    expect(error).toMatchObject({ text: 'is takes open, done (or both).', term: '-is:nonsense' })
    expect(error.suggestions[0]).toEqual({ label: '-is:open', query: 'Zürich -is:open "a b"' })
  })
  it('returns the whole term if its value is quoted', () => {
    const error = queryErrorOf(
      'q: after a quoted value, label needs a space (at offset 14).',
      'label:"a \\" b"c is:open',
    )
    expect(error).toEqual({
      text: 'after a quoted value, label needs a space.',
      term: 'label:"a \\" b"c',
      suggestions: [],
    })
  })
  it('returns no suggestions if no value is invalid', () => {
    expect(queryErrorOf('q: sort may be given only once (at offset 9).', 'sort:due sort:due').suggestions).toEqual([])
    expect(queryErrorOf('Can’t reach the server. Check your connection.', 'due:x')).toEqual({
      text: 'Can’t reach the server. Check your connection.',
      suggestions: [],
    })
  })
})

it('byFrequency sorts distinct names by frequency', () => {
  expect(byFrequency(['b', 'a', 'b', '', 'c'])).toEqual(['b', 'a', 'c'])
  expect(labelsByFrequency([...names.labels, { name: 'Big idea', color: 'red' }])[0]).toEqual({
    name: 'Big idea',
    color: 'sky',
  })
})

const card = (id: string, boardId: string, dueDate: string | null, dueAt: string | null = null) =>
  ({ id, boardId, dueDate, dueAt }) as Card

describe('groupByBoard and groupByDue', () => {
  const now = new Date('2026-11-21T22:30:00Z') // already the 22nd in Zurich, a Sunday
  it('groupByBoard orders boards by their first card', () => {
    const groups = groupByBoard([card('1', 'b', null), card('2', 'a', null), card('3', 'b', null)])
    expect(groups.map((g) => [g.boardId, g.cards.length])).toEqual([
      ['b', 2],
      ['a', 1],
    ])
  })
  it('dueGroupOf uses the time zone of the user', () => {
    const groupOf = (date: string | null, at: string | null = null, zone = 'Europe/Zurich') =>
      dueGroupOf({ dueDate: date, dueAt: at }, now, zone)
    expect(groupOf('2026-11-21')).toBe('today')
    expect(groupOf('2026-11-21', null, 'Asia/Tokyo')).toBe('overdue')
    expect(groupOf('2026-11-21', '2026-11-21T22:00:00Z')).toBe('overdue')
    expect(groupOf('2026-11-22', null, 'Asia/Tokyo')).toBe('today')
    expect(groupOf('2026-11-27')).toBe('week')
    expect(groupOf('2026-11-28')).toBe('later')
    expect(groupOf(null)).toBe('none')
  })
  it('groupByDue sorts by urgency, with cards without a time last within a day', () => {
    const cards = [
      card('day', 'a', '2026-11-23'),
      card('none', 'a', null),
      card('time', 'a', '2026-11-23', '2026-11-23T09:00:00Z'),
      card('late', 'a', '2026-11-01'),
    ]
    expect(groupByDue(cards, now, 'UTC').map((g) => [g.due, g.cards.map((c) => c.id)])).toEqual([
      ['overdue', ['late']],
      ['week', ['time', 'day']],
      ['none', ['none']],
    ])
  })
})
