// Groups cards by board or by due date.
import type { Card } from '../../api/types'
import { addDays, wallClock } from '../../state/due'

export type BoardGroup = { boardId: string; cards: Card[] }

/** Groups cards by board, in the order in which the boards first appear. */
export function byBoard(cards: readonly Card[]): BoardGroup[] {
  const groups = new Map<string, Card[]>()
  for (const card of cards) {
    const group = groups.get(card.boardId)
    if (group) group.push(card)
    else groups.set(card.boardId, [card])
  }
  return [...groups].map(([boardId, found]) => ({ boardId, cards: found }))
}

export type When = 'overdue' | 'today' | 'week' | 'later' | 'none'
export type WhenGroup = { when: When; cards: Card[] }

const order: readonly When[] = ['overdue', 'today', 'week', 'later', 'none']

/** Returns when a card is due in a time zone. A week is today and the next six days. */
export function whenOf(card: Pick<Card, 'dueDate' | 'dueAt'>, now: Date, timeZone: string): When {
  if (!card.dueDate) return 'none'
  const today = wallClock(now, timeZone).date
  if (card.dueAt ? Date.parse(card.dueAt) < now.getTime() : card.dueDate < today) return 'overdue'
  const day = card.dueAt ? wallClock(new Date(card.dueAt), timeZone).date : card.dueDate
  if (day <= today) return 'today'
  return day <= addDays(today, 6) ? 'week' : 'later'
}

/** Groups cards by due date, the most urgent first. Empty groups are left out. */
export function byWhen(cards: readonly Card[], now: Date, timeZone: string): WhenGroup[] {
  const key = (c: Card) => c.dueAt ?? (c.dueDate ? `${c.dueDate}T99` : '')
  return order.flatMap((when) => {
    const found = cards.filter((c) => whenOf(c, now, timeZone) === when)
    found.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
    return found.length > 0 ? [{ when, cards: found }] : []
  })
}
