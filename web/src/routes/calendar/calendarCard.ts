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
  /** Empty if unknown. */
  updatedAt: string
}

/** A card with its days in the time zone of the reader. */
export type DatedCard = CalendarCard & {
  first: string
  last: string
  /** The time of day of a card on a single day, or empty. */
  time: string
  how: Urgency | null
}

type Known = Pick<Card, Exclude<keyof CalendarCard, 'updatedAt'>> & { updatedAt?: string }

export function toCalendarCard(card: components['schemas']['CalendarCard'] | Known): CalendarCard {
  const { id, boardId, listId, number, title, done, dueDate, dueAt, startDate, startAt, timeZone } = card
  const updatedAt = 'updatedAt' in card ? (card.updatedAt ?? '') : ''
  return { id, boardId, listId, number, title, done, dueDate, dueAt, startDate, startAt, timeZone, updatedAt }
}

/** Returns the card with its days, or null if it has no date. */
export function datedCard(card: CalendarCard, now: Date, timeZone: string): DatedCard | null {
  const span = spanOf(card, timeZone)
  if (!span) return null
  const at = card.dueAt ?? (card.dueDate ? null : card.startAt)
  const time = at && span.first === span.last ? wallClock(new Date(at), timeZone).time : ''
  return { ...card, ...span, time, how: urgency(card, now, timeZone) }
}

/** Sorts cards of several days first, longest first, then by time of day with all-day cards first. */
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
