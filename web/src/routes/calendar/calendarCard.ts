// A card in the calendar, with or without a date.
import type { components } from '../../api/schema'
import type { Card } from '../../api/types'
import { spanOf, urgency, wallClock, type Due, type Urgency } from '../../state/due'

export type CalendarCard = Due & {
  id: string
  boardId: string
  listId: string
  number: number
  title: string
  done: boolean
  /** The time of the last change, or an empty string if unknown. */
  updatedAt: string
}

/** A card with a date. `first` and `last` are its days in the viewer’s time zone. */
export type DatedCard = CalendarCard & {
  first: string
  last: string
  /** The time of day. An empty string if the card has no time or spans several days. */
  time: string
  urgency: Urgency | null
}

type CardFields = Pick<Card, Exclude<keyof CalendarCard, 'updatedAt'>> & { updatedAt?: string }

export function toCalendarCard(card: components['schemas']['CalendarCard'] | CardFields): CalendarCard {
  const { id, boardId, listId, number, title, done, dueDate, dueAt, startDate, startAt, timeZone } = card
  const updatedAt = 'updatedAt' in card ? (card.updatedAt ?? '') : ''
  return { id, boardId, listId, number, title, done, dueDate, dueAt, startDate, startAt, timeZone, updatedAt }
}

/** Returns a card with its days in a time zone, or null if it has no date. */
export function datedCard(card: CalendarCard, now: Date, timeZone: string): DatedCard | null {
  const span = spanOf(card, timeZone)
  if (!span) return null
  const at = card.dueAt ?? (card.dueDate ? null : card.startAt)
  const time = at && span.first === span.last ? wallClock(new Date(at), timeZone).time : ''
  return { ...card, ...span, time, urgency: urgency(card, now, timeZone) }
}

/**
 * Compares cards: multi-day cards first, then by first day, last day (latest first), time of
 * day and title.
 */
export function inOrder(a: DatedCard, b: DatedCard): number {
  const spanRank = (c: DatedCard) => (c.first < c.last ? 0 : 1)
  return (
    spanRank(a) - spanRank(b) ||
    compare(a.first, b.first) ||
    compare(b.last, a.last) ||
    compare(a.time, b.time) ||
    compare(a.title.toLowerCase(), b.title.toLowerCase()) ||
    compare(a.id, b.id)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
