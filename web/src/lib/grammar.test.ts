import { describe, expect, test } from 'vitest'
import type { Card } from '../api/types'
import { parseTerms, parseMatcher } from './grammar'

const context = {
  now: new Date('2026-11-21T22:30:00Z'), // a Saturday
  timeZone: 'UTC',
  me: 'usr_ada',
  listName: (id: string) => ({ lst_1: 'To do', lst_2: 'Doing' })[id] ?? '',
}

const base: Card = {
  id: 'crd_1',
  boardId: 'brd_1',
  listId: 'lst_1',
  number: 1,
  title: 'Card',
  done: false,
  doneAt: null,
  archivedAt: null,
  archivedBy: null,
  labels: [],
  assignees: [],
  dueDate: null,
  dueAt: null,
  startDate: null,
  startAt: null,
  timeZone: null,
  checklistItems: { done: 0, total: 0 },
  comments: 0,
  attachments: 0,
  cover: null,
  createdBy: 'usr_ada',
  createdAt: '2026-11-01T10:00:00.000Z',
  updatedAt: '2026-11-20T10:00:00.000Z',
  url: '',
}
const bug = { id: 'lbl_1', name: 'Bug', color: 'red' as const }
const idea = { id: 'lbl_2', name: 'Big idea', color: 'sky' as const }
const ada = { id: 'usr_ada', name: 'Ada Lovelace' }
const grace = { id: 'usr_grace', name: 'Grace Hopper' }

const cards: Card[] = [
  { ...base, number: 1, title: 'Write the press release', labels: [bug], assignees: [ada], dueDate: '2026-11-20' },
  { ...base, number: 2, title: 'Press the button', labels: [idea], assignees: [grace], dueDate: '2026-11-22' },
  {
    ...base,
    number: 3,
    title: 'Café in Zürich',
    listId: 'lst_2',
    done: true,
    doneAt: '2026-11-19T10:00:00.000Z',
    dueDate: '2026-11-21',
    createdBy: 'usr_grace',
  },
  {
    ...base,
    number: 4,
    title: 'Say "hello", world',
    startDate: '2026-11-24',
    checklistItems: { done: 1, total: 2 },
    comments: 1,
    dueDate: '2026-11-21',
    dueAt: '2026-11-21T23:30:00.000Z',
  },
]
const numbersOf = (text: string) => cards.filter(parseMatcher(text, context).matches).map((c) => c.number)

test.each([
  ['', [1, 2, 3, 4]],
  ['   ', [1, 2, 3, 4]],
  ['press', [1, 2]],
  ['pre', [1, 2]],
  ['press rel', [1]],
  ['release press', [1]],
  ['"the press"', [1]],
  ['"press the"', [2]],
  ['-press', [3, 4]],
  ['-"the press"', [2, 3, 4]],
  ['zurich', [3]],
  ['CAFÉ', [3]],
  ['butt*', [2]],
  ['"hello" world', [4]],
  ['"hello world"', []],
  [String.raw`"\"hello\""`, [4]],
])('words: %s matches %j', (text, numbers) => expect(numbersOf(text)).toEqual(numbers))

test.each([
  ['#bug', [1]],
  ['#bu', [1]],
  ['#"Big idea"', [2]],
  ['label:bug,"big idea"', [1, 2]],
  ['-label:bug', [2, 3, 4]],
  ['label:none', [3, 4]],
  ['label:any', [1, 2]],
  ['label:"none"', []],
  ['label:lbl_2', [2]],
  ['#3', [3]],
  ['@ada', [1]],
  ['@lovelace', [1]],
  ['assignee:ada', [1]],
  ['tag:bug', [1]],
  ['@me,grace', [1, 2]],
  ['member:none', [3, 4]],
  ['member:"Ada"', []],
  ['-@me press', [2]],
  ['list:"to do"', [1, 2, 4]],
  ['list:doing', [3]],
  ['creator:me', [1, 2, 4]],
])('names: %s matches %j', (text, numbers) => expect(numbersOf(text)).toEqual(numbers))

test.each([
  ['is:done', [3]],
  ['is:open', [1, 2, 4]],
  ['IS:done', [3]],
  ['-is:done press', [1, 2]],
  ['is:overdue', [1]],
  ['is:unassigned', [3, 4]],
  ['is:done,overdue', [1, 3]],
  ['is:unchecked', [4]],
  ['has:checklist', [4]],
  ['has:comment,label', [1, 2, 4]],
  ['no:label', [3, 4]],
  ['due:overdue', [1]],
  ['due:today', [3, 4]],
  ['due:tomorrow', [2]],
  ['due:week', [2, 3, 4]],
  ['due:calendarweek', [1, 2, 3, 4]], // up to Sunday the 22nd
  ['due:2', [2, 3, 4]],
  ['due:>2026-11-21', [2]],
  ['due:<=yesterday', [1]],
  ['due:2026-11-20..2026-11-21', [1, 3, 4]],
  ['due:*..2026-11-20', [1]],
  ['due:none', []],
  ['start:any', [4]],
  ['start:next7', [4]],
  ['completed:7', [3]],
  ['completed:2', []],
  ['created:2026-11-01', [1, 2, 3, 4]],
  ['updated:>today', []],
])('operators: %s matches %j', (text, numbers) => expect(numbersOf(text)).toEqual(numbers))

test('days are in the user’s time zone', () => {
  const matcher = parseMatcher('due:today', { ...context, timeZone: 'Asia/Tokyo' }) // the 22nd in Tokyo
  expect(cards.filter(matcher.matches).map((c) => c.number)).toEqual([2, 4])
})

describe('unsupported terms', () => {
  test.each(['due:sometime', 'is:late', 'description:x', 'sort:due', 'has:description', 'due:2026-02-30'])(
    '%s is reported and matches every card',
    (text) => {
      expect(parseMatcher(`press ${text}`, context).unknown).toEqual([text])
      expect(numbersOf(`press ${text}`)).toEqual([1, 2])
    },
  )
  test('an unknown key is plain text, and a key without a value is ignored', () => {
    expect(numbersOf('https://example.com')).toEqual([])
    expect(parseMatcher('https://example.com', context).unknown).toEqual([])
    expect(numbersOf('press due:')).toEqual([1, 2])
    expect(numbersOf('press @')).toEqual([1, 2])
    expect(parseMatcher('press due:', context).unknown).toEqual([])
  })
  test('an unclosed quote is plain text', () => {
    expect(parseTerms('"press the').map((t) => t.values[0]!.text)).toEqual(['"press', 'the'])
  })
})
