// The search grammar evaluated in the browser, for the filter of a board. It
// follows the server's search (internal/query), with two differences: words and
// names match by prefix, because people filter while typing, and only fields that
// the page has loaded can be tested.
import type { Card } from '../api/types'
import { addMonths, isDay, mondayOf } from './days'
import { addDays, urgency, wallClock } from '../state/due'

export type Lookup = {
  now: Date
  timeZone: string
  me: string
  listName: (listId: string) => string
}

type Value = { text: string; quoted: boolean }
type Term = { key: string; negated: boolean; values: Value[]; written: string }
type Test = (card: Card) => boolean

/** Tests cards against a text. Unknown terms match every card. */
export type Matcher = { matches: Test; unknown: readonly string[] }

const keys = 'is has no label member creator list due start created updated edited completed title'.split(' ')
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
}
/** Keys of the server's search that the page cannot test. */
const serverOnlyKeys = 'board commenter description comment checklist status sort'.split(' ')

/** Returns a text in lower case, without accents. */
export function normalize(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
}

/** Parses a text into terms. */
export function readTerms(text: string): Term[] {
  const terms: Term[] = []
  // An optional minus, a key or a mark, then comma-separated values; or a phrase; or a run without spaces.
  const atom = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s,"][^\s,]*)`
  const term = new RegExp(
    String.raw`(-?)(?:([A-Za-z]+):(${atom}(?:,${atom})*)|([@#])(${atom}(?:,${atom})*)|("(?:[^"\\]|\\.)*")|(\S+))`,
    'g',
  )
  for (const [written, minus, key, values, mark, names, phrase, run] of text.matchAll(term)) {
    const negated = minus === '-'
    const typed = key?.toLowerCase() ?? ''
    const known = aliases[typed] ?? typed
    if (values && (keys.includes(known) || serverOnlyKeys.includes(known))) {
      terms.push({ key: known, negated, values: readValues(values), written })
    } else if (names) {
      terms.push({ key: mark === '@' ? 'member' : 'label', negated, values: readValues(names), written })
    } else if (phrase) {
      terms.push({ key: '', negated, values: readValues(phrase), written })
    } else {
      // Skip a key whose value has not been typed yet.
      const word = run ?? `${key}:${values}`
      const incomplete =
        /^[A-Za-z]+:$/.test(word) &&
        [...keys, ...serverOnlyKeys, ...Object.keys(aliases)].includes(word.slice(0, -1).toLowerCase())
      if (incomplete || word === '@' || word === '#') continue
      terms.push({ key: '', negated, values: [{ text: word.replace(/\*$/, ''), quoted: false }], written })
    }
  }
  return terms
}

function readValues(text: string): Value[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(([, phrase, run]) =>
    phrase === undefined ? { text: run!, quoted: false } : { text: phrase.replace(/\\(.)/g, '$1'), quoted: true },
  )
}

/** Parses a text into a matcher for many cards. */
export function parseMatcher(text: string, at: Lookup): Matcher {
  const tests: Test[] = []
  const unknown: string[] = []
  for (const term of readTerms(text)) {
    const any = term.values.map((value) => testOf(term.key, value, at))
    if (any.some((one) => one === null)) {
      unknown.push(term.written)
      continue
    }
    const has = (card: Card) => any.some((one) => one!(card))
    tests.push(term.negated ? (card) => !has(card) : has)
  }
  return { matches: (card) => tests.every((test) => test(card)), unknown }
}

function testOf(key: string, value: Value, at: Lookup): Test | null {
  const word = normalize(value.text)
  if (serverOnlyKeys.includes(key)) return null
  switch (key) {
    case '':
      return (c) => normalize(`${c.title} #${c.number} ${c.labels.map((l) => l.name).join(' ')}`).includes(word)
    case 'title':
      return (c) => normalize(c.title).includes(word)
    case 'is':
      return isTest(word, at)
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
      return itemTest(value, (c) => c.assignees, { none: (c) => c.assignees.length === 0, me: at.me })
    case 'creator':
      // A card has only the ID of its creator.
      return !value.quoted && word === 'me'
        ? (c) => c.createdBy === at.me
        : word.startsWith('usr_')
          ? (c) => c.createdBy === word
          : null
    case 'list':
      return itemTest(value, (c) => [{ id: c.listId, name: at.listName(c.listId) }], { none: () => false })
    case 'due':
    case 'start':
      return plannedDateTest(key, word, at)
    default:
      return pastDateTest(key, word, at)
  }
}

function isTest(word: string, at: Lookup): Test | null {
  switch (word) {
    case 'open':
      return (c) => !c.done && !c.archivedAt
    case 'done':
      return (c) => c.done
    case 'archived':
      return (c) => !!c.archivedAt
    case 'overdue':
      return (c) => urgency(c, at.now, at.timeZone) === 'overdue'
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

/** Returns a test for cards that have an item with a name, matched by prefix, or with an ID. */
function itemTest(
  value: Value,
  of: (card: Card) => readonly { id: string; name: string }[],
  special: { none: Test; me?: string },
): Test {
  const word = normalize(value.text)
  if (!value.quoted) {
    if (word === 'none') return special.none
    if (word === 'any') return (c) => !special.none(c)
    if (word === 'me' && special.me) return (c) => of(c).some((one) => one.id === special.me)
  }
  return (card) =>
    of(card).some((one) => {
      const name = normalize(one.name)
      if (one.id === value.text || name === word) return true
      return !value.quoted && (name.startsWith(word) || name.includes(` ${word}`)) && name !== ''
    })
}

type Days = { from?: string; to?: string }

/** Returns the day of a word or a date, or null. */
function dayOf(word: string, today: string): string | null {
  if (word === 'today') return today
  if (word === 'tomorrow') return addDays(today, 1)
  if (word === 'yesterday') return addDays(today, -1)
  return isDay(word) ? word : null
}

/** Returns the days of a date, a comparison or a range, or null. */
function daysOf(word: string, today: string): Days | null {
  const range = /^(.+?)\.\.(.+)$/.exec(word)
  if (range) {
    const [from, to] = [range[1]!, range[2]!].map((bound) => (bound === '*' ? '' : dayOf(bound, today)))
    return from === null || to === null ? null : { from: from || undefined, to: to || undefined }
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

const count = (word: string) => (/^\d{1,4}$/.test(word) && Number(word) >= 1 ? Number(word) : null)
const within = (day: string, { from, to }: Days) => (!from || day >= from) && (!to || day <= to)

/** Returns the test of a value of due: or start:, or null if the value is not valid. */
export function plannedDateTest(key: 'due' | 'start', word: string, at: Lookup): Test | null {
  const today = wallClock(at.now, at.timeZone).date
  const day = (c: Card) => {
    const instant = key === 'due' ? c.dueAt : c.startAt
    return instant ? wallClock(new Date(instant), at.timeZone).date : key === 'due' ? c.dueDate : c.startDate
  }
  const on =
    (days: Days): Test =>
    (c) => {
      const found = day(c)
      return found !== null && within(found, days)
    }
  const month = `${today.slice(0, 7)}-01`
  switch (word) {
    case 'overdue': {
      const as = (c: Card) => (key === 'due' ? c : { ...c, dueDate: c.startDate, dueAt: c.startAt })
      return (c) => urgency(as(c), at.now, at.timeZone) === 'overdue'
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

function pastDateTest(key: string, word: string, at: Lookup): Test | null {
  const today = wallClock(at.now, at.timeZone).date
  const instant = (c: Card) => (key === 'created' ? c.createdAt : key === 'completed' ? c.doneAt : c.updatedAt)
  const n = count(word)
  const days = n ? { from: addDays(today, 1 - n) } : daysOf(word, today)
  return (
    days &&
    ((c) => {
      const found = instant(c)
      return !!found && within(wallClock(new Date(found), at.timeZone).date, days)
    })
  )
}
