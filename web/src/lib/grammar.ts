// The server's search grammar (internal/query), evaluated in the browser to filter a board.
// There are two main differences. Words match as substrings and names match at the
// beginning of a word, because the filter applies while the query is being typed. `sort:`
// and terms about data that the page has not loaded are not supported.
import type { Card } from '../api/types'
import { addMonths, isDay, mondayOf } from './days'
import { addDays, urgency, wallClock } from '../state/due'
import { foldText } from './foldText'

/** The data that a matcher needs in addition to the card. */
export type MatchContext = {
  now: Date
  timeZone: string
  /** The ID of the user. */
  me: string
  listName: (listId: string) => string
}

type Value = { text: string; quoted: boolean }
/** A term of a query. `source` is the term as written in the query. */
type Term = { key: string; negated: boolean; values: Value[]; source: string }
type Test = (card: Card) => boolean

/** Tests whether cards match a query. `unknown` contains the unsupported terms, which match every card. */
export type Matcher = { matches: Test; unknown: readonly string[] }

const keys = 'is has no label member creator list due start created updated completed title'.split(' ')
/** Synonyms of keys. */
const aliases: Readonly<Record<string, string>> = {
  assignee: 'member',
  assignees: 'member',
  assigned: 'member',
  members: 'member',
  author: 'creator',
  labels: 'label',
  tag: 'label',
  tags: 'label',
  edited: 'updated',
}
/** Keys that only the server's search supports. */
export const serverOnlyKeys = 'board commenter description comment checklist attachment status sort'.split(' ')

/** Parses a query into terms. */
export function parseTerms(query: string): Term[] {
  const terms: Term[] = []
  // An optional minus, followed by one of: a key or sigil (@ or #) with comma-separated values, a quoted
  // phrase, or a word.
  const atom = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s,"][^\s,]*)`
  const term = new RegExp(
    String.raw`(-?)(?:([A-Za-z]+):(${atom}(?:,${atom})*)|([@#])(${atom}(?:,${atom})*)|("(?:[^"\\]|\\.)*")|(\S+))`,
    'g',
  )
  for (const [source, minus, key, values, sigil, names, phrase, word] of query.matchAll(term)) {
    const negated = minus === '-'
    const typedKey = key?.toLowerCase() ?? ''
    const knownKey = aliases[typedKey] ?? typedKey
    if (values && (keys.includes(knownKey) || serverOnlyKeys.includes(knownKey))) {
      terms.push({ key: knownKey, negated, values: parseValues(values), source })
    } else if (names) {
      terms.push({ key: sigil === '@' ? 'member' : 'label', negated, values: parseValues(names), source })
    } else if (phrase) {
      terms.push({ key: '', negated, values: parseValues(phrase), source })
    } else {
      // Skip a key whose value has not been typed yet.
      const text = word ?? `${key}:${values}`
      const incomplete =
        /^[A-Za-z]+:$/.test(text) &&
        [...keys, ...serverOnlyKeys, ...Object.keys(aliases)].includes(text.slice(0, -1).toLowerCase())
      if (incomplete || text === '@' || text === '#') continue
      terms.push({ key: '', negated, values: [{ text: text.replace(/\*$/, ''), quoted: false }], source })
    }
  }
  return terms
}

function parseValues(text: string): Value[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(([, phrase, word]) =>
    phrase === undefined ? { text: word!, quoted: false } : { text: phrase.replace(/\\(.)/g, '$1'), quoted: true },
  )
}

/** Parses a query into a matcher. */
export function parseMatcher(query: string, context: MatchContext): Matcher {
  const tests: Test[] = []
  const unknown: string[] = []
  for (const term of parseTerms(query)) {
    const valueTests = term.values.map((value) => testOf(term.key, value, context))
    if (valueTests.some((test) => test === null)) {
      unknown.push(term.source)
      continue
    }
    const matchesAny = (card: Card) => valueTests.some((test) => test!(card))
    tests.push(term.negated ? (card) => !matchesAny(card) : matchesAny)
  }
  return { matches: (card) => tests.every((test) => test(card)), unknown }
}

/** Returns the test for one value of a key, or null if the key or the value is not supported. */
export function testOf(key: string, value: Value, context: MatchContext): Test | null {
  const word = foldText(value.text)
  if (serverOnlyKeys.includes(key)) return null
  switch (key) {
    case '':
      return (c) => textOf(c).includes(word)
    case 'title':
      return (c) => foldText(c.title).includes(word)
    case 'is':
      return isTest(word, context)
    case 'has':
      return hasTest(word)
    case 'no': {
      const has = hasTest(word)
      return has && ((c) => !has(c))
    }
    case 'label':
      // #12 also matches the card number.
      return itemTest(
        value,
        (c) => [...c.labels.map((l) => ({ id: l.id, name: l.name })), { id: `${c.number}`, name: '' }],
        {
          none: (c) => c.labels.length === 0,
        },
      )
    case 'member':
      return itemTest(value, (c) => c.assignees, { none: (c) => c.assignees.length === 0, me: context.me })
    case 'creator':
      // A card includes only the ID of its creator.
      return !value.quoted && word === 'me'
        ? (c) => c.createdBy === context.me
        : word.startsWith('usr_')
          ? (c) => c.createdBy === word
          : null
    case 'list':
      return itemTest(value, (c) => [{ id: c.listId, name: context.listName(c.listId) }], { none: () => false })
    case 'due':
    case 'start':
      return plannedDateTest(key, word, context)
    default:
      return pastDateTest(key, word, context)
  }
}

/** The texts that words are compared with. A changed card is another object. */
const texts = new WeakMap<Card, string>()

function textOf(card: Card): string {
  let text = texts.get(card)
  if (text === undefined) {
    text = foldText(`${card.title} #${card.number} ${card.labels.map((l) => l.name).join(' ')}`)
    texts.set(card, text)
  }
  return text
}

function isTest(word: string, context: MatchContext): Test | null {
  switch (word) {
    case 'open':
      return (c) => !c.done && !c.archivedAt
    case 'done':
      return (c) => c.done
    case 'archived':
      return (c) => !!c.archivedAt
    case 'overdue':
      return (c) => urgency(c, context.now, context.timeZone) === 'overdue'
    case 'assigned':
      return (c) => c.assignees.length > 0
    case 'unassigned':
      return (c) => c.assignees.length === 0
    case 'checked':
      return (c) => c.checklistItems.total > 0 && c.checklistItems.done === c.checklistItems.total
    case 'unchecked':
      return (c) => c.checklistItems.done < c.checklistItems.total
  }
  return null
}

function hasTest(word: string): Test | null {
  switch (word) {
    case 'checklist':
      return (c) => c.checklistItems.total > 0
    case 'comment':
      return (c) => c.comments > 0
    case 'due':
      return (c) => c.dueDate !== null
    case 'start':
      return (c) => c.startDate !== null
    case 'assignee':
      return (c) => c.assignees.length > 0
    case 'label':
      return (c) => c.labels.length > 0
  }
  return null
}

/**
 * Returns a test for cards with an item whose ID or name is the value. An unquoted value
 * also matches names with a word that begins with it.
 */
function itemTest(
  value: Value,
  itemsOf: (card: Card) => readonly { id: string; name: string }[],
  special: { none: Test; me?: string },
): Test {
  const word = foldText(value.text)
  if (!value.quoted) {
    if (word === 'none') return special.none
    if (word === 'any') return (c) => !special.none(c)
    if (word === 'me' && special.me) return (c) => itemsOf(c).some((item) => item.id === special.me)
  }
  return (card) =>
    itemsOf(card).some((item) => {
      const name = foldText(item.name)
      if (item.id === value.text || name === word) return true
      return !value.quoted && (name.startsWith(word) || name.includes(` ${word}`)) && name !== ''
    })
}

/** An inclusive range of days. If an end is absent, the range is unbounded on that side. */
type Days = { from?: string; to?: string }

/** Parses a day: a date, "today", "tomorrow" or "yesterday". Returns null if it is not valid. */
function dayOf(word: string, today: string): string | null {
  if (word === 'today') return today
  if (word === 'tomorrow') return addDays(today, 1)
  if (word === 'yesterday') return addDays(today, -1)
  return isDay(word) ? word : null
}

/** Parses a day, a comparison or a range. Returns null if it is not valid. */
function daysOf(word: string, today: string): Days | null {
  const range = /^(.+?)\.\.(.+)$/.exec(word)
  if (range) {
    const [from, to] = [range[1]!, range[2]!].map((bound) => (bound === '*' ? '' : dayOf(bound, today)))
    if (from === null || to === null || (isDay(range[1]!) && isDay(range[2]!) && to! < from!)) return null
    return { from: from || undefined, to: to || undefined }
  }
  const [, sign, rest] = /^([<>]=?)?(.*)$/.exec(word)!
  const day = dayOf(rest!, today)
  if (day === null) return null
  switch (sign) {
    case '>':
      return { from: addDays(day, 1) }
    case '>=':
      return { from: day }
    case '<':
      return { to: addDays(day, -1) }
    case '<=':
      return { to: day }
  }
  return { from: day, to: day }
}

const count = (word: string) => (/^\d{1,9}$/.test(word) && +word >= 1 && +word <= 3650 ? +word : null)
const within = (day: string, { from, to }: Days) => (!from || day >= from) && (!to || day <= to)

/** Returns the test for a value of `due:` or `start:`, or null if the value is not valid. */
export function plannedDateTest(key: 'due' | 'start', word: string, context: MatchContext): Test | null {
  const today = wallClock(context.now, context.timeZone).date
  const day = (c: Card) => {
    const instant = key === 'due' ? c.dueAt : c.startAt
    return instant ? wallClock(new Date(instant), context.timeZone).date : key === 'due' ? c.dueDate : c.startDate
  }
  const on =
    (days: Days): Test =>
    (c) => {
      const date = day(c)
      return date !== null && within(date, days)
    }
  const month = `${today.slice(0, 7)}-01`
  switch (word) {
    case 'overdue': {
      const as = (c: Card) => (key === 'due' ? c : { ...c, dueDate: c.startDate, dueAt: c.startAt })
      return (c) => urgency(as(c), context.now, context.timeZone) === 'overdue'
    }
    case 'none':
      return (c) => day(c) === null
    case 'any':
      return (c) => day(c) !== null
    case 'calendarweek':
      return on({ from: mondayOf(today), to: addDays(mondayOf(today), 6) })
    case 'week':
    case 'next7':
      return on({ from: today, to: addDays(today, 6) })
    case 'month':
      return on({ from: month, to: addDays(addMonths(month, 1), -1) })
  }
  const n = count(word)
  const days = n ? { from: today, to: addDays(today, n - 1) } : daysOf(word, today)
  return days && on(days)
}

/** Returns the test for a value of `created:`, `updated:` or `completed:`, or null if it is not valid. */
function pastDateTest(key: string, word: string, context: MatchContext): Test | null {
  const today = wallClock(context.now, context.timeZone).date
  const instantOf = (c: Card) => (key === 'created' ? c.createdAt : key === 'completed' ? c.doneAt : c.updatedAt)
  const n = count(word)
  const days = n ? { from: addDays(today, 1 - n) } : daysOf(word, today)
  return (
    days &&
    ((c) => {
      const instant = instantOf(c)
      return !!instant && within(wallClock(new Date(instant), context.timeZone).date, days)
    })
  )
}
