// What the address of a calendar says: the view, the day, and the filters.
import { isDay } from '../../lib/days'

export type View = 'month' | 'week'

export type Place = {
  view: View
  /** A day that is in view; empty is today. */
  date: string
  /** Board ids; none means all. */
  boards: readonly string[]
  mine: boolean
  /** Whether done cards are left out. */
  open: boolean
}

export function readPlace(query: URLSearchParams): Place {
  const date = query.get('date') ?? ''
  return {
    view: query.get('view') === 'week' ? 'week' : 'month',
    date: isDay(date) ? date : '',
    boards: (query.get('board') ?? '').split(',').filter(Boolean),
    mine: query.get('assignee') === 'me',
    open: query.get('done') === 'false',
  }
}

/** The address's search, with the question mark; empty for this month without a filter. */
export function writePlace(place: Place): string {
  const query = new URLSearchParams()
  if (place.view !== 'month') query.set('view', place.view)
  if (place.date) query.set('date', place.date)
  if (place.boards.length > 0) query.set('board', place.boards.join(','))
  if (place.mine) query.set('assignee', 'me')
  if (place.open) query.set('done', 'false')
  const text = query.toString().replaceAll('%2C', ',')
  return text && `?${text}`
}
