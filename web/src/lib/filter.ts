// The filter of a board, stored in the query parameters of the URL.
import type { Card } from '../api/types'
import { parseMatcher, plannedDateTest, type MatchContext, type Matcher } from './grammar'

export type Filter = {
  text: string
  labels: string[]
  /** User IDs, or "none" for unassigned cards. */
  people: string[]
  due: '' | 'overdue' | 'today' | 'week' | 'none'
  done: '' | 'open' | 'done'
}

export const emptyFilter: Filter = { text: '', labels: [], people: [], due: '', done: '' }

const splitList = (value: string | null): string[] => (value ? value.split(',').filter(Boolean) : [])

export function readFilter(query: URLSearchParams): Filter {
  const due = query.get('due') ?? ''
  const done = query.get('done') ?? ''
  return {
    text: query.get('q') ?? '',
    labels: splitList(query.get('label')),
    people: splitList(query.get('assignee')),
    due: ['overdue', 'today', 'week', 'none'].includes(due) ? (due as Filter['due']) : '',
    done: done === 'true' ? 'done' : done === 'false' ? 'open' : '',
  }
}

/** Returns the query string of a filter, including the question mark, or '' if the filter is empty. */
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

/** Returns the number of conditions of a filter. */
export function countOf(filter: Filter): number {
  return (
    filter.labels.length +
    filter.people.length +
    (filter.text.trim() ? 1 : 0) +
    (filter.due ? 1 : 0) +
    (filter.done ? 1 : 0)
  )
}

/** Returns a matcher for a filter. A card must have one of the selected labels and one of the selected assignees. */
export function matcherOf(filter: Filter, context: MatchContext): Matcher {
  const text = parseMatcher(filter.text, context)
  const due = filter.due ? plannedDateTest('due', filter.due, context) : null
  return {
    unknown: text.unknown,
    matches: (card) => text.matches(card) && matchesSelection(card, filter) && (!due || due(card)),
  }
}

/** Reports whether a card matches the selected labels, assignees and completion. */
function matchesSelection(card: Card, filter: Filter): boolean {
  if (filter.labels.length && !card.labels.some((l) => filter.labels.includes(l.id))) return false
  if (filter.people.length) {
    const assigned = card.assignees.some((a) => filter.people.includes(a.id))
    const unassigned = filter.people.includes('none') && card.assignees.length === 0
    if (!assigned && !unassigned) return false
  }
  if (filter.done && card.done !== (filter.done === 'done')) return false
  return true
}
