// Explains why the filter of a board cannot use a term. The words are those of the server's
// search (internal/query/key.go), except for terms that only the search supports.
import type { Card } from '../../api/types'
import { parseMatcher, parseTerms, serverOnlyKeys, testOf, type MatchContext } from '../../lib/grammar'
import { queryErrorOf, type QueryError } from '../search/query'

type Person = { id: string; name: string }

/** Returns "a, b or c". */
const listed = (words: readonly string[], or = 'or') =>
  [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(` ${or} `)

const dates =
  'a date (YYYY-MM-DD from 1900 to 2999, or yesterday, today, tomorrow), a comparison such as >=2026-01-31, ' +
  'or a range such as 2026-01-01..2026-01-31 (either side may be *)'
const past = `a number of days from 1 to 3650, ${dates}`
const planned = `overdue, today, tomorrow, week, calendarweek, next7, month, none, any, ${past}`
const contents = ['description', 'checklist', 'comment', 'attachment', 'due', 'start', 'assignee', 'label']

/** The values that a key accepts. */
const allowed: Readonly<Record<string, string>> = {
  is: listed(['open', 'done', 'archived', 'overdue', 'assigned', 'unassigned', 'checked', 'unchecked']),
  has: listed(contents),
  no: listed(contents),
  due: planned,
  start: planned,
  created: past,
  updated: past,
  completed: past,
}

/** Words that are often mistaken for keys. */
const misnamed = /^-?(owner|user|person|people):./i
/** The maximum number of people that a message lists. */
const maxPeople = 5

/** Returns the first problem of a query, or null. `people` are the members and assignees of the board. */
export function filterProblem(query: string, context: MatchContext, people: readonly Person[]): QueryError | null {
  let index = 0
  for (const term of parseTerms(query)) {
    index = query.indexOf(term.source, index)
    const sentence = problemOf(term, context, people)
    if (sentence) {
      const offset = new TextEncoder().encode(query.slice(0, index)).length
      const error = queryErrorOf(`q: ${sentence} (at offset ${offset}).`, query)
      return {
        ...error,
        suggestions: error.suggestions.filter(({ label }) => !parseMatcher(label, context).unknown.length),
      }
    }
    index += term.source.length
  }
  return null
}

/** Returns what is wrong with a term, as the server says it, or null. */
function problemOf(
  { key, source, values }: ReturnType<typeof parseTerms>[number],
  context: MatchContext,
  people: readonly Person[],
): string | null {
  if (key === '') {
    const word = misnamed.exec(source)?.[1]?.toLowerCase()
    if (word) {
      return (
        `${word} is not a search key; use member: for assignees, creator: for the person who created the card, ` +
        'or commenter: for people who commented'
      )
    }
    const unclosed = /^-?[a-z]+:/i.test(source) && parseTerms(`${source}"`)[0]?.key
    return unclosed ? `${unclosed} has an opening quote without a closing one` : null
  }
  if (serverOnlyKeys.includes(key)) return `${key} works only in search`
  for (const value of values) {
    const test = testOf(key, value, context)
    if (!test) {
      const isContent = (key === 'has' || key === 'no') && contents.includes(value.text.toLowerCase())
      const valid = key === 'creator' || isContent
      return valid ? `${key}:${value.text} works only in search` : `${key} takes ${allowed[key]}`
    }
    if (key !== 'member' || (!value.quoted && /^(me|none|any)$/i.test(value.text))) continue
    if (!test({ assignees: people } as Card)) return unknownPerson(value.text, people)
  }
  return null
}

/** Returns the sentence for a name that no one on the board has. */
function unknownPerson(name: string, people: readonly Person[]): string {
  if (/.@./.test(name)) return 'email addresses work only in search'
  const names = people.slice(0, maxPeople).map((person) => person.name)
  if (people.length > maxPeople) names.push(`${people.length - maxPeople} more`)
  return `no person on this board has that name; people on this board include ${listed(names, 'and')}`
}
