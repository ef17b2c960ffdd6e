// The query parameters of the calendar: view, day and filters.
import { isDay } from '../../lib/days'

export type View = 'month' | 'week'

export type CalendarParams = {
  view: View
  /** A day in view. Empty means today. */
  date: string
  /** Board IDs. Empty means all boards. */
  boards: readonly string[]
  mine: boolean
  /** Whether done cards are hidden. */
  open: boolean
}

export function readParams(query: URLSearchParams): CalendarParams {
  const date = query.get('date') ?? ''
  return {
    view: query.get('view') === 'week' ? 'week' : 'month',
    date: isDay(date) ? date : '',
    boards: (query.get('board') ?? '').split(',').filter(Boolean),
    mine: query.get('assignee') === 'me',
    open: query.get('done') === 'false',
  }
}

/** Returns the query string with its question mark, or '' for the current month without filters. */
export function writeParams(params: CalendarParams): string {
  const query = new URLSearchParams()
  if (params.view !== 'month') query.set('view', params.view)
  if (params.date) query.set('date', params.date)
  if (params.boards.length > 0) query.set('board', params.boards.join(','))
  if (params.mine) query.set('assignee', 'me')
  if (params.open) query.set('done', 'false')
  const text = query.toString().replaceAll('%2C', ',')
  return text && `?${text}`
}
