// The filter of a board, as it stands in the address.
import type { Card } from '../api/types'
import { planTest, sieve, type Lookup, type Sieve } from './grammar'

export type Filter = {
  text: string
  labels: string[]
  /** User ids, or none. */
  people: string[]
  due: '' | 'overdue' | 'today' | 'week' | 'none'
  done: '' | 'open' | 'done'
}

export const emptyFilter: Filter = { text: '', labels: [], people: [], due: '', done: '' }

const words = (value: string | null): string[] => (value ? value.split(',').filter(Boolean) : [])

export function readFilter(query: URLSearchParams): Filter {
  const due = query.get('due') ?? ''
  const done = query.get('done') ?? ''
  return {
    text: query.get('q') ?? '',
    labels: words(query.get('label')),
    people: words(query.get('assignee')),
    due: ['overdue', 'today', 'week', 'none'].includes(due) ? (due as Filter['due']) : '',
    done: done === 'true' ? 'done' : done === 'false' ? 'open' : '',
  }
}

/** The address's search for a filter, with the question mark; empty without one. */
export function writeFilter(filter: Filter): string {
  const query = new URLSearchParams()
  if (filter.text.trim()) query.set('q', filter.text)
  if (filter.labels.length) query.set('label', filter.labels.join(','))
  if (filter.people.length) query.set('assignee', filter.people.join(','))
  if (filter.due) query.set('due', filter.due)
  if (filter.done) query.set('done', filter.done === 'done' ? 'true' : 'false')
  const text = query.toString().replaceAll('%2C', ',')
  return text && `?${text}`
}

export function countOf(filter: Filter): number {
  return (
    filter.labels.length +
    filter.people.length +
    (filter.text.trim() ? 1 : 0) +
    (filter.due ? 1 : 0) +
    (filter.done ? 1 : 0)
  )
}

/** What a filter lets pass, read once; several labels or people mean any of them. */
export function sieveOf(filter: Filter, at: Lookup): Sieve {
  const text = sieve(filter.text, at)
  const due = filter.due ? planTest('due', filter.due, at) : null
  return {
    unknown: text.unknown,
    passes: (card) => text.passes(card) && chosen(card, filter) && (!due || due(card)),
  }
}

/** Whether a card passes what was chosen beside the text. */
function chosen(card: Card, filter: Filter): boolean {
  if (filter.labels.length && !card.labels.some((l) => filter.labels.includes(l.id))) return false
  if (filter.people.length) {
    const named = card.assignees.some((a) => filter.people.includes(a.id))
    const nobody = filter.people.includes('none') && card.assignees.length === 0
    if (!named && !nobody) return false
  }
  if (filter.done && card.done !== (filter.done === 'done')) return false
  return true
}
