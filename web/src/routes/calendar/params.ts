// The query parameters of the calendar: view, day and filters.
import { isDay } from '../../lib/days'

export type View = 'month' | 'week'

export type CalendarParams = {
  view: View
  /** A day in the visible range. An empty string means today. */
  date: string
  /** Board IDs. An empty list means all boards. */
  boards: readonly string[]
  /** Whether only cards assigned to the user are shown. */
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

/** Returns the query string, including the question mark, or '' for the current month without filters. */
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
