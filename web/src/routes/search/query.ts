// Suggestions and errors for a search query while it is being typed. The server parses
// and runs the query.
import { parseTerms, parseMatcher, type MatchContext } from '../../lib/grammar'
import { foldText } from '../../lib/foldText'

export type Suggestion = {
  /** The text that replaces the word before the caret. */
  insert: string
  label: string
  hint?: string
  /** Whether more text must follow, as after a key. */
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
const contents: [string, string?][] = [
  ['description'],
  ['checklist'],
  ['comment'],
  ['attachment'],
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
  { key: 'has', hint: 'with a field or content', values: contents },
  { key: 'no', hint: 'without a field or content', values: contents },
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
  { key: 'attachment', hint: 'words in the names of attachments' },
  {
    key: 'status',
    hint: 'latest status of the board',
    values: [['on_track'], ['at_risk'], ['off_track'], ['on_hold'], ['complete']],
  },
  {
    key: 'sort',
    hint: 'sort order',
    values: [
      ['relevance', 'matching titles first'],
      ['due', 'soonest first'],
      ['-updated', 'last changed first'],
      ['-created', 'newest first'],
      ['title', 'A to Z'],
      ['position'],
    ],
  },
]

/** Returns the word before the caret and its offset. Quoted spaces do not end a word. */
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
 * Returns the query without an incomplete term at the caret, such as "due:tod". The
 * result can run while the user is typing.
 */
export function runnablePart(text: string, caret: number, names: Names, context: MatchContext): string {
  const { from } = wordAt(text, caret)
  const [word] = /^\S*/.exec(text.slice(caret))!
  const end = caret + word.length
  const term = text.slice(from, end)
  if (isComplete(term, names, context)) return text.trim()
  return `${text.slice(0, from).trimEnd()} ${text.slice(end).trimStart()}`.trim()
}

const specialValues = ['me', 'none', 'any']

/** Reports whether a term is complete enough to search for. */
function isComplete(term: string, names: Names, context: MatchContext): boolean {
  if (term.replace(/\\./g, '').split('"').length % 2 === 0) return false
  const [parsed] = parseTerms(term)
  if (!parsed) return term === ''
  // Text with a colon is an unknown or incomplete key.
  if (parsed.key === '') return !/^-?[A-Za-z]+:/.test(term)
  const known = keys.find((k) => k.key === parsed.key)
  if (known?.names) {
    const all = known.names === 'labels' ? names.labels.map((l) => l.name) : names[known.names]
    return parsed.values.every((v) => {
      const typed = foldText(v.text)
      return specialValues.includes(typed) || all.some((name) => foldText(name) === typed)
    })
  }
  if (parsed.key === 'status' || parsed.key === 'sort') {
    return parsed.values.every((v) => known?.values?.some(([word]) => word === v.text))
  }
  return (
    ['description', 'comment', 'checklist', 'attachment'].includes(parsed.key) ||
    parseMatcher(term, context).unknown.length === 0
  )
}

/** Quotes a name if the search grammar requires it. */
export function quoteName(name: string): string {
  return /^[^\s,"()]+$/.test(name) && !/^(none|any|me)$/i.test(name) && !/[*]$|^[@#<>=-]|\.\./.test(name)
    ? name
    : `"${name.replaceAll('"', '\\"')}"`
}

const maxSuggestions = 9

/** Returns suggestions for completing a word. */
export function suggest(word: string, names: Names): Suggestion[] {
  const minus = word.startsWith('-') ? '-' : ''
  const rest = word.slice(minus.length)
  if (rest.startsWith('@')) return suggestNames('members', rest.slice(1), `${minus}@`, names, true)
  if (rest.startsWith('#')) return suggestNames('labels', rest.slice(1), `${minus}#`, names, false)

  const colon = rest.indexOf(':')
  if (colon > 0) {
    const key = keys.find((k) => k.key === rest.slice(0, colon).toLowerCase())
    if (!key) return []
    // Complete the value after the last comma.
    const values = rest.slice(colon + 1)
    const valueStart = lastComma(values) + 1
    const prefix = minus + rest.slice(0, colon + 1) + values.slice(0, valueStart)
    const typed = values.slice(valueStart)
    if (key.names) return suggestNames(key.names, typed, prefix, names, !!key.me)
    return (key.values ?? [])
      .filter(([w]) => w.replace(/^-/, '').startsWith(typed.toLowerCase().replace(/^-/, '')) && w !== typed)
      .slice(0, maxSuggestions)
      .map(([w, hint]) => ({ insert: prefix + w, label: w.replaceAll('_', ' '), hint }))
  }
  if (rest === '' && minus === '') return []
  return keys
    .filter((k) => k.key.startsWith(rest.toLowerCase()) && rest !== '')
    .slice(0, maxSuggestions)
    .map((k) => ({ insert: `${minus}${k.key}:`, label: `${k.key}:`, hint: k.hint, open: true }))
}

/** Returns the index of the last comma outside quotes, or -1. */
function lastComma(values: string): number {
  let last = -1
  let inQuotes = false
  for (let i = 0; i < values.length; i++) {
    if (values[i] === '"') inQuotes = !inQuotes
    else if (values[i] === ',' && !inQuotes) last = i
  }
  return last
}

/** Returns suggestions for names that match the typed text. If `me` is set, also suggests "me". */
function suggestNames(kind: keyof Names, typed: string, prefix: string, names: Names, me: boolean): Suggestion[] {
  const text = foldText(typed.replaceAll('"', ''))
  const suggestions: Suggestion[] = []
  const add = (name: string, color?: string) => {
    const folded = foldText(name)
    if (!folded.startsWith(text) && !folded.includes(` ${text}`)) return
    if (suggestions.some((s) => s.label.toLowerCase() === name.toLowerCase())) return
    suggestions.push({ insert: prefix + quoteName(name), label: name, color })
  }
  if (me && 'me'.startsWith(text)) suggestions.push({ insert: `${prefix}me`, label: 'me', hint: 'yourself' })
  if (kind === 'labels') for (const l of names.labels) add(l.name, l.color)
  else for (const name of names[kind]) add(name)
  if (suggestions.length === 1 && suggestions[0]?.insert === prefix + typed) return []
  return suggestions.slice(0, maxSuggestions)
}

/** Removes a term from a query. The offset and length of the term are in UTF-8 bytes. */
export function withoutTerm(text: string, term: { offset: number; length: number }): string {
  const bytes = new TextEncoder().encode(text)
  const decoder = new TextDecoder()
  const before = decoder.decode(bytes.slice(0, term.offset))
  const after = decoder.decode(bytes.slice(term.offset + term.length))
  return `${before.trimEnd()} ${after.trimStart()}`.trim()
}

export type QueryError = { text: string; term?: string; suggestions: { label: string; query: string }[] }

/** Parses the server’s error message about a query. Returns a sentence, the invalid term and suggestions for it. */
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
  attachment: 'Attachments contain',
  status: 'Board status',
  sort: 'Sorted by',
}

/** Describes a term: "Due week", "not Label bug or design". */
export function termText(term: { key: string; negated: boolean; values: readonly string[]; text: string }): {
  key: string
  value: string
} {
  const isPastKey = ['created', 'updated', 'completed'].includes(term.key)
  const texts = term.values.map((v) => {
    if (/^0*1$/.test(v)) return isPastKey ? 'the last day' : 'within 1 day'
    if (/^\d+$/.test(v)) return isPastKey ? `the last ${v} days` : `within ${v} days`
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
export function byFrequency(names: readonly string[]): string[] {
  const uses = new Map<string, number>()
  for (const name of names) if (name) uses.set(name, (uses.get(name) ?? 0) + 1)
  return [...uses].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([name]) => name)
}

/** Returns one label for each distinct name, most frequent name first. */
export function labelsByFrequency(
  labels: readonly { name: string; color: string }[],
): { name: string; color: string }[] {
  return byFrequency(labels.map((l) => l.name)).flatMap((name) => labels.find((l) => l.name === name) ?? [])
}
