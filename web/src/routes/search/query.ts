// Suggestions and errors for the search text while it is being typed. The server
// decides what a query means.
import { normalize, readTerms, parseMatcher, type Lookup } from '../../lib/grammar'

export type Suggestion = {
  /** The text that replaces the word before the caret. */
  insert: string
  label: string
  hint?: string
  /** Whether a value must follow, as after a key. */
  open?: boolean
  color?: string
}

export type Names = {
  boards: readonly string[]
  lists: readonly string[]
  labels: readonly { name: string; color: string }[]
  members: readonly string[]
}

type Key = { key: string; hint: string; values?: readonly [string, string?][]; names?: keyof Names; me?: boolean }

const days: [string, string?][] = [
  ['overdue', 'and not done'],
  ['today'],
  ['tomorrow'],
  ['week', 'today and the next six days'],
  ['calendarweek', 'Monday to Sunday'],
  ['month', 'this calendar month'],
  ['none', 'no date'],
  ['any', 'any date'],
]
const parts: [string, string?][] = [
  ['description'],
  ['checklist'],
  ['comment'],
  ['due'],
  ['start'],
  ['assignee'],
  ['label'],
]
const past: [string, string?][] = [['today'], ['yesterday'], ['7', 'the last 7 days'], ['30', 'the last 30 days']]

export const keys: readonly Key[] = [
  {
    key: 'is',
    hint: 'open, done, archived…',
    values: [['open'], ['done'], ['overdue'], ['assigned'], ['unassigned'], ['archived']],
  },
  { key: 'due', hint: 'due date', values: days },
  { key: 'label', hint: 'label', names: 'labels' },
  { key: 'member', hint: 'assignee', names: 'members', me: true },
  { key: 'board', hint: 'board', names: 'boards' },
  { key: 'list', hint: 'list', names: 'lists' },
  { key: 'has', hint: 'with a field or content', values: parts },
  { key: 'no', hint: 'without a field or content', values: parts },
  { key: 'start', hint: 'start date', values: days.filter(([w]) => w !== 'overdue') },
  { key: 'creator', hint: 'who created it', names: 'members', me: true },
  { key: 'commenter', hint: 'who commented', names: 'members', me: true },
  { key: 'created', hint: 'creation date', values: past },
  { key: 'updated', hint: 'last change', values: past },
  { key: 'completed', hint: 'completion date', values: past },
  { key: 'title', hint: 'words in the title' },
  { key: 'description', hint: 'words in the description' },
  { key: 'comment', hint: 'words in comments' },
  { key: 'checklist', hint: 'words in checklists' },
  {
    key: 'status',
    hint: 'latest status of the board',
    values: [['on_track'], ['at_risk'], ['off_track'], ['on_hold'], ['complete']],
  },
  {
    key: 'sort',
    hint: 'sort order',
    values: [
      ['due', 'soonest first'],
      ['-updated', 'last changed first'],
      ['-created', 'newest first'],
      ['title', 'A to Z'],
      ['position'],
    ],
  },
]

/** Returns the word at the caret, from its start to the caret. */
export function wordAt(text: string, caret: number): { from: number; word: string } {
  let inQuotes = false
  let from = 0
  for (let i = 0; i < caret; i++) {
    if (text[i] === '\\' && inQuotes) i++
    else if (text[i] === '"') inQuotes = !inQuotes
    else if (/\s/.test(text.charAt(i)) && !inQuotes) from = i + 1
  }
  return { from, word: text.slice(from, caret) }
}

/**
 * Returns the part of a search that can run while it is being typed. An
 * incomplete term at the caret, such as "due:tod", is left out.
 */
export function ready(text: string, caret: number, names: Names, at: Lookup): string {
  const { from } = wordAt(text, caret)
  const [word] = /^\S*/.exec(text.slice(caret))!
  const end = caret + word.length
  const term = text.slice(from, end)
  if (finished(term, names, at)) return text.trim()
  return `${text.slice(0, from).trimEnd()} ${text.slice(end).trimStart()}`.trim()
}

const special = ['me', 'none', 'any']

function finished(written: string, names: Names, at: Lookup): boolean {
  if (written.replace(/\\./g, '').split('"').length % 2 === 0) return false
  const [term] = readTerms(written)
  if (!term) return written === ''
  // An unknown or incomplete key.
  if (term.key === '') return !/^-?[A-Za-z]+:/.test(written)
  const known = keys.find((k) => k.key === term.key)
  if (known?.names) {
    const all = known.names === 'labels' ? names.labels.map((l) => l.name) : names[known.names]
    return term.values.every((v) => {
      const typed = normalize(v.text)
      return special.includes(typed) || all.some((name) => normalize(name) === typed)
    })
  }
  if (term.key === 'status' || term.key === 'sort') {
    return term.values.every((v) => known?.values?.some(([word]) => word === v.text))
  }
  return ['description', 'comment', 'checklist'].includes(term.key) || parseMatcher(written, at).unknown.length === 0
}

/** Quotes a name if the search grammar requires it. */
export function quoteName(name: string): string {
  return /^[^\s,"()]+$/.test(name) && !/^(none|any|me)$/i.test(name) && !/[*]$|^[@#<>=-]|\.\./.test(name)
    ? name
    : `"${name.replaceAll('"', '\\"')}"`
}

const maxSuggestions = 9

/** Returns suggestions to replace a word. */
export function suggest(word: string, names: Names): Suggestion[] {
  const minus = word.startsWith('-') ? '-' : ''
  const rest = word.slice(minus.length)
  if (rest.startsWith('@')) return named('members', rest.slice(1), `${minus}@`, names, true)
  if (rest.startsWith('#')) return named('labels', rest.slice(1), `${minus}#`, names, false)

  const colon = rest.indexOf(':')
  if (colon > 0) {
    const found = keys.find((k) => k.key === rest.slice(0, colon).toLowerCase())
    if (!found) return []
    // Complete the value after the last comma.
    const values = rest.slice(colon + 1)
    const cut = lastComma(values) + 1
    const before = minus + rest.slice(0, colon + 1) + values.slice(0, cut)
    const typed = values.slice(cut)
    if (found.names) return named(found.names, typed, before, names, !!found.me)
    return (found.values ?? [])
      .filter(([w]) => w.replace(/^-/, '').startsWith(typed.toLowerCase().replace(/^-/, '')) && w !== typed)
      .slice(0, maxSuggestions)
      .map(([w, hint]) => ({ insert: before + w, label: w.replaceAll('_', ' '), hint }))
  }
  if (rest === '' && minus === '') return []
  return keys
    .filter((k) => k.key.startsWith(rest.toLowerCase()) && rest !== '')
    .slice(0, maxSuggestions)
    .map((k) => ({ insert: `${minus}${k.key}:`, label: `${k.key}:`, hint: k.hint, open: true }))
}

function lastComma(values: string): number {
  let at = -1
  let inside = false
  for (let i = 0; i < values.length; i++) {
    if (values[i] === '"') inside = !inside
    else if (values[i] === ',' && !inside) at = i
  }
  return at
}

function named(of: keyof Names, typed: string, before: string, names: Names, me: boolean): Suggestion[] {
  const text = typed.replaceAll('"', '').toLowerCase()
  const found: Suggestion[] = []
  const add = (name: string, color?: string) => {
    const low = name.toLowerCase()
    if (!low.startsWith(text) && !low.includes(` ${text}`)) return
    if (found.some((f) => f.label.toLowerCase() === low)) return
    found.push({ insert: before + quoteName(name), label: name, color })
  }
  if (me && 'me'.startsWith(text)) found.push({ insert: `${before}me`, label: 'me', hint: 'yourself' })
  if (of === 'labels') for (const l of names.labels) add(l.name, l.color)
  else for (const name of names[of]) add(name)
  if (found.length === 1 && found[0]?.insert === before + typed) return []
  return found.slice(0, maxSuggestions)
}

/** Removes a term from the text. Its offset and length are in UTF-8 bytes. */
export function withoutTerm(text: string, term: { offset: number; length: number }): string {
  const bytes = new TextEncoder().encode(text)
  const decoder = new TextDecoder()
  const before = decoder.decode(bytes.slice(0, term.offset))
  const after = decoder.decode(bytes.slice(term.offset + term.length))
  return `${before.trimEnd()} ${after.trimStart()}`.trim()
}

export type QueryError = { text: string; term?: string; suggestions: { label: string; query: string }[] }

/** Parses an error message about a query into a sentence, the invalid term and suggestions to replace it. */
export function queryErrorOf(message: string, query: string): QueryError {
  const [, sentence = message, offset] = /^(?:\w+: )?(.*?)(?: \(at offset (\d+)\))?\.$/s.exec(message) ?? []
  const text = `${sentence.replace(/\.$/, '')}.`
  if (offset === undefined) return { text, suggestions: [] }
  const at = new TextDecoder().decode(new TextEncoder().encode(query).slice(0, Number(offset))).length
  const { from } = wordAt(query, at)
  const length = /^(?:[^\s"]|"(?:\\.|[^"\\])*"?)*/.exec(query.slice(from))![0].length
  const term = query.slice(from, from + length)
  const [, minus, key] = /^(-?)(\w+):/.exec(term) ?? []
  const values = /^\w+ (takes|needs a value)/.test(sentence)
    ? keys.find((k) => k.key === key?.toLowerCase())?.values
    : []
  const suggestions = (values ?? []).map(([value]) => {
    const label = `${minus}${key}:${value}`
    return { label, query: query.slice(0, from) + label + query.slice(from + length) }
  })
  return { text, term, suggestions }
}

const keyLabels: Record<string, string> = {
  text: '',
  is: 'Is',
  due: 'Due',
  start: 'Starts',
  no: 'No',
  has: 'Has',
  label: 'Label',
  member: 'Assigned to',
  creator: 'Created by',
  commenter: 'Commented by',
  board: 'Board',
  list: 'List',
  created: 'Created',
  updated: 'Changed',
  completed: 'Done',
  title: 'Title contains',
  description: 'Description contains',
  comment: 'Comments contain',
  checklist: 'Checklists contain',
  status: 'Board status',
  sort: 'Sorted by',
}

/** Returns a term as readable text: "Due week", "not Label bug or design". */
export function termText(term: { key: string; negated: boolean; values: readonly string[]; text: string }): {
  key: string
  value: string
} {
  const inThePast = ['created', 'updated', 'completed'].includes(term.key)
  const texts = term.values.map((v) => {
    if (/^\d+$/.test(v)) return inThePast ? `the last ${v} days` : `within ${v} days`
    if (term.key === 'sort') return v.startsWith('-') ? `${v.slice(1)}, descending` : v
    return v.replaceAll('_', ' ')
  })
  const key = keyLabels[term.key] ?? term.key
  const not = term.negated ? 'not' : ''
  return {
    key: (term.key === 'is' ? [key, not] : [not, key]).filter(Boolean).join(' '),
    value: texts.join(' or ') || term.text,
  }
}

/** Returns the distinct names, most frequent first. */
export function counted(names: readonly string[]): string[] {
  const uses = new Map<string, number>()
  for (const name of names) if (name) uses.set(name, (uses.get(name) ?? 0) + 1)
  return [...uses].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([name]) => name)
}

/** Returns the labels with distinct names, most frequent first. */
export function countedLabels(labels: readonly { name: string; color: string }[]): { name: string; color: string }[] {
  return counted(labels.map((l) => l.name)).flatMap((name) => labels.find((l) => l.name === name) ?? [])
}
