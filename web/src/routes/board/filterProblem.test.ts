import { describe, expect, test } from 'vitest'
import { filterProblem } from './filterProblem'

const context = { now: new Date('2026-11-21T22:30:00Z'), timeZone: 'UTC', me: 'usr_ada', listName: () => '' }
const people = ['Ada Lovelace', 'Grace Hopper'].map((name, n) => ({ id: `usr_${n}`, name }))
const problemOf = (query: string) => filterProblem(query, context, people)

describe('filterProblem', () => {
  test.each([
    'press -is:done due:week',
    '@me,lovelace',
    '-member:grace',
    'member:none',
    'member:"Ada Lovelace"',
    'creator:me',
    'label:nope list:nope #nope',
    'press due:',
    '@',
    'https://example.com',
    'edited:7',
    'no:label',
    'due:3650',
    'due:2026-01-02..2026-01-02',
    'due:tomorrow..today',
  ])('%s has no problem', (query) => expect(problemOf(query)).toBeNull())

  test.each([
    ['zürich is:nope "a b"', 'is:nope', /^is takes open, done, archived, .* or unchecked\.$/],
    ['-due:nope', '-due:nope', /^due takes overdue, today, .*, a number of days from 1 to 3650, a date/],
    ['edited:nope', 'edited:nope', /^updated takes a number of days/],
    ['due:0', 'due:0', /^due takes overdue/],
    ['created:3651', 'created:3651', /^created takes a number of days from 1 to 3650/],
    ['due:2026-01-02..2026-01-01', 'due:2026-01-02..2026-01-01', /^due takes overdue/],
    ['start:1899-12-31', 'start:1899-12-31', /^start takes overdue/],
    ['has:nope', 'has:nope', /^has takes description, checklist, .* or label\.$/],
    ['due:today,due', 'due:today,due', /^due takes overdue/],
    ['sort:due', 'sort:due', /^sort works only in search\.$/],
    ['attachment:plan', 'attachment:plan', /^attachment works only in search\.$/],
    ['no:description', 'no:description', /^no:description works only in search\.$/],
    ['creator:ada', 'creator:ada', /^creator:ada works only in search\.$/],
    [
      'is:open @ada,zzz',
      '@ada,zzz',
      /^no person on this board has that name; .* include Ada Lovelace and Grace Hopper\.$/,
    ],
    ['member:"none"', 'member:"none"', /^no person on this board has that name/],
    ['member:ada@example.com', 'member:ada@example.com', /^email addresses work only in search\.$/],
    ['owner:ada', 'owner:ada', /^owner is not a search key; use member: for assignees/],
    ['label:"Big idea', 'label:"Big idea', /^label has an opening quote without a closing one\.$/],
  ])('the problem of %s is in %s', (query, term, text) => {
    const problem = problemOf(query)!
    expect(problem.term).toBe(term)
    expect(problem.text).toMatch(text)
  })

  test('suggestions replace the term, and are those that the filter can use', () => {
    expect(problemOf('zürich is:nope x')!.suggestions[0]).toEqual({ label: 'is:open', query: 'zürich is:open x' })
    const labels = problemOf('has:nope')!.suggestions.map(({ label }) => label)
    expect(labels).toContain('has:checklist')
    expect(labels).not.toContain('has:description')
  })

  test('a message lists at most five people', () => {
    const many = Array.from({ length: 7 }, (_, n) => ({ id: `usr_${n}`, name: `Person ${n}` }))
    expect(filterProblem('@zzz', context, many)!.text).toMatch(/Person 3, Person 4 and 2 more\.$/)
  })
})
