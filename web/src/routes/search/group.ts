// Groups cards by board or by due date.
import type { Card } from '../../api/types'
import { addDays, wallClock } from '../../state/due'

export type BoardGroup = { boardId: string; cards: Card[] }

/** Groups cards by board, in the order in which the boards first appear. */
export function groupByBoard(cards: readonly Card[]): BoardGroup[] {
  const groups = new Map<string, Card[]>()
  for (const card of cards) {
    const group = groups.get(card.boardId)
    if (group) group.push(card)
    else groups.set(card.boardId, [card])
  }
  return [...groups].map(([boardId, cards]) => ({ boardId, cards }))
}

export type DueGroup = 'overdue' | 'today' | 'week' | 'later' | 'none'
export type DueGroupCards = { due: DueGroup; cards: Card[] }

const order: readonly DueGroup[] = ['overdue', 'today', 'week', 'later', 'none']

/** Returns the group of a card in a time zone. `week` covers the six days after today. */
export function dueGroupOf(card: Pick<Card, 'dueDate' | 'dueAt'>, now: Date, timeZone: string): DueGroup {
  if (!card.dueDate) return 'none'
  const today = wallClock(now, timeZone).date
  if (card.dueAt ? Date.parse(card.dueAt) < now.getTime() : card.dueDate < today) return 'overdue'
  const day = card.dueAt ? wallClock(new Date(card.dueAt), timeZone).date : card.dueDate
  if (day <= today) return 'today'
  return day <= addDays(today, 6) ? 'week' : 'later'
}

/** Groups cards by due date, most urgent first. Omits empty groups. */
export function groupByDue(cards: readonly Card[], now: Date, timeZone: string): DueGroupCards[] {
  const sortKey = (c: Card) => c.dueAt ?? (c.dueDate ? `${c.dueDate}T99` : '')
  return order.flatMap((due) => {
    const group = cards.filter((c) => dueGroupOf(c, now, timeZone) === due)
    group.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : sortKey(a) > sortKey(b) ? 1 : 0))
    return group.length > 0 ? [{ due, cards: group }] : []
  })
}
