// Helpers for card and list actions: positions and the texts of toasts.
import type { Card, Position } from '../../api/types'
import type { Dropped } from '../../state/operations'

/** Reports whether an ID is already at a position. */
export function isAtPosition(ids: readonly string[], id: string, position: Position): boolean {
  const index = ids.indexOf(id)
  if (index < 0) return false
  if (position === 'top') return index === 0
  if (position === 'bottom') return index === ids.length - 1
  return 'after' in position ? ids[index - 1] === position.after : ids[index + 1] === position.before
}

/** Returns the quoted title of a single card, or the number of cards. */
export function cardsText(cards: readonly Card[]): string {
  if (cards.length !== 1) return `${cards.length} cards`
  const title = cards[0]!.title
  return `“${title.length > 32 ? `${title.slice(0, 32)}…` : title}”`
}

/** Returns a sentence that lists the labels and people that a move to another board removed, or ''. */
export function droppedText(all: readonly Dropped[]): string {
  const labels = new Set(all.flatMap((d) => d.droppedLabels.map((l) => l.name || l.color)))
  const people = new Set(all.flatMap((d) => d.droppedAssignees.map((a) => a.name)))
  const parts = [
    labels.size > 0 ? `${labels.size === 1 ? 'the label' : 'the labels'} ${joinNames([...labels])}` : '',
    people.size > 0 ? joinNames([...people]) : '',
  ].filter(Boolean)
  return parts.length > 0 ? `Removed: ${parts.join(', and ')}.` : ''
}

/** Joins items: "a, b and c". */
export const joinNames = (items: readonly string[]): string =>
  items.length > 1 ? `${items.slice(0, -1).join(', ')} and ${items.at(-1)}` : (items[0] ?? '')
