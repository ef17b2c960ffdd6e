// A card as the calendar holds it, whether it has a date or waits for one.
import type { components } from '../../api/schema'
import type { Card } from '../../api/types'
import { spanOf, urgency, wallClock, type Due, type Urgency } from '../../state/due'

export type PlanCard = Due & {
  id: string
  boardId: string
  listId: string
  number: number
  title: string
  done: boolean
  /** Empty when it is not known. */
  updatedAt: string
}

/** A card on its days, for somebody in a zone. */
export type DatedCard = PlanCard & {
  first: string
  last: string
  /** Its time of day, when it has one and stands on one day. */
  time: string
  how: Urgency | null
}

type Known = Pick<Card, Exclude<keyof PlanCard, 'updatedAt'>> & { updatedAt?: string }

export function planCard(card: components['schemas']['CalendarCard'] | Known): PlanCard {
  const { id, boardId, listId, number, title, done, dueDate, dueAt, startDate, startAt, timeZone } = card
  const updatedAt = 'updatedAt' in card ? (card.updatedAt ?? '') : ''
  return { id, boardId, listId, number, title, done, dueDate, dueAt, startDate, startAt, timeZone, updatedAt }
}

/** The card on its days; null without a date. */
export function datedCard(card: PlanCard, now: Date, timeZone: string): DatedCard | null {
  const span = spanOf(card, timeZone)
  if (!span) return null
  const at = card.dueAt ?? (card.dueDate ? null : card.startAt)
  const time = at && span.first === span.last ? wallClock(new Date(at), timeZone).time : ''
  return { ...card, ...span, time, how: urgency(card, now, timeZone) }
}

/** Spans before single days, the longest first; then by time of day, what is all day first. */
export function inOrder(a: DatedCard, b: DatedCard): number {
  const lasts = (c: DatedCard) => (c.first < c.last ? 0 : 1)
  return (
    lasts(a) - lasts(b) ||
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
