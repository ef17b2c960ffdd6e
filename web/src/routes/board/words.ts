// What was done, in words.
import type { Card, Position } from '../../api/types'
import type { Dropped } from '../../state/operations'

/** Whether an id stands at a position already. */
export function standsAt(ids: readonly string[], id: string, position: Position): boolean {
  const at = ids.indexOf(id)
  if (at < 0) return false
  if (position === 'top') return at === 0
  if (position === 'bottom') return at === ids.length - 1
  return 'after' in position ? ids[at - 1] === position.after : ids[at + 1] === position.before
}

/** The card by its title, or how many. */
export function cardsText(cards: readonly Card[]): string {
  if (cards.length !== 1) return `${cards.length} cards`
  const title = cards[0]!.title
  return `“${title.length > 32 ? `${title.slice(0, 32)}…` : title}”`
}

/** What could not be taken to another board; empty when nothing. */
export function droppedText(all: readonly Dropped[]): string {
  const labels = new Set(all.flatMap((d) => d.droppedLabels.map((l) => l.name || l.color)))
  const people = new Set(all.flatMap((d) => d.droppedAssignees.map((a) => a.name)))
  const parts = [
    labels.size > 0 ? `${labels.size === 1 ? 'the label' : 'the labels'} ${listed([...labels])}` : '',
    people.size > 0 ? listed([...people]) : '',
  ].filter(Boolean)
  return parts.length > 0 ? `Not taken along: ${parts.join(', and ')}.` : ''
}

/** "a, b and c" */
export const listed = (words: readonly string[]): string =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words.at(-1)}` : (words[0] ?? '')
