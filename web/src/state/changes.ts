// Applies changes by others to the page's copy of the server state. The changes come
// from list_board_changes and the live stream.
import type { ActivityKind } from '../api/kinds'
import type { Activity, Card, LabelColor, Position } from '../api/types'
import { emptyCard, type Draft } from './boardData'
import { changeLabel, dropLabel } from './operations/board'

/** A change. On the live stream, it has the client ID of the tab that caused it. */
export type Change = Activity & { client?: string | null }

/** Data that has changed but is not part of the entry, so the page must load it. */
export type StaleData = {
  board: boolean
  members: boolean
  /** IDs of the cards to load. */
  cards: Set<string>
}

export const noStaleData = (): StaleData => ({ board: false, members: false, cards: new Set() })

/** The part of the board that a change affects. `details` are the contents of a card that are shown only when it is open. */
type Part = 'card' | 'details' | 'list' | 'label' | 'board' | 'members' | 'none'

const parts: Readonly<Record<ActivityKind, Part>> = {
  'card.created': 'card',
  'card.updated': 'card',
  'card.moved': 'card',
  'card.reordered': 'card',
  'card.completed': 'card',
  'card.reopened': 'card',
  'card.archived': 'card',
  'card.restored': 'card',
  'card.deleted': 'card',
  'card.assignees_changed': 'card',
  'card.labels_changed': 'card',
  'card.due_date_changed': 'card',
  'comment.added': 'details',
  'comment.edited': 'details',
  'comment.deleted': 'details',
  'checklist.added': 'details',
  'checklist.updated': 'details',
  'checklist.deleted': 'details',
  'checklist_item.added': 'details',
  'checklist_item.updated': 'details',
  'checklist_item.completed': 'details',
  'checklist_item.reopened': 'details',
  'checklist_item.deleted': 'details',
  'card.cover_changed': 'details',
  'attachment.added': 'details',
  'attachment.renamed': 'details',
  'attachment.removed': 'details',
  'list.created': 'list',
  'list.updated': 'list',
  'list.moved': 'list',
  'list.moved_away': 'list',
  'list.moved_in': 'list',
  'list.archived': 'list',
  'list.restored': 'list',
  'list.deleted': 'list',
  'label.created': 'label',
  'label.updated': 'label',
  'label.deleted': 'label',
  'status.posted': 'none',
  'board.created': 'board',
  'board.updated': 'board',
  'board.archived': 'board',
  'board.restored': 'board',
  'board.trashed': 'board',
  'board.imported': 'board',
  'board_member.added': 'members',
  'board_member.updated': 'members',
  'board_member.removed': 'members',
  'rule.created': 'none',
  'rule.updated': 'none',
  'rule.deleted': 'none',
  'rule.switched_on': 'none',
  'rule.switched_off': 'none',
}

/** Returns the part that a kind of change affects, or undefined for a kind that only a newer server knows. */
const partOf = (kind: string): Part | undefined => (parts as Readonly<Record<string, Part | undefined>>)[kind]

/**
 * Applies one entry. An entry has no further effect if it was already applied, or if the
 * page has applied the response to the operation that caused it.
 */
export function applyChange(draft: Draft, entry: Activity, stale: StaleData): void {
  const to = <T>(field: string): T => entry.changes[field]?.to as T
  const { type, cardId, listId } = entry
  const part = partOf(type)
  const has = (field: string) => field in entry.changes

  if (cardId) {
    const known = draft.data.cards.get(cardId)
    if (type === 'card.deleted' || (type === 'card.moved' && to('listId') === null)) {
      draft.removeCard(cardId)
      return
    }
    if (!known) {
      if (type === 'card.created') {
        draft.set('cards', cardId, initialCard(draft, entry))
        draft.placeCard(cardId, to<string>('listId'), to<Position>('position') ?? 'bottom')
        // A copied card may have checklists and comments, which the entry does not include.
        stale.cards.add(cardId)
      } else if (type === 'card.restored' || type === 'card.moved') stale.board = true
      // All other entries are about archived cards that are not loaded.
      return
    }
    applyToCard(draft, entry, known)
    if (
      part === 'details' ||
      part === undefined ||
      (type === 'card.updated' && has('description') && draft.data.details.has(cardId))
    ) {
      stale.cards.add(cardId)
    }
    return
  }

  if (listId) {
    const position = to<Position | undefined>('position')
    switch (type) {
      case 'list.created':
      case 'list.moved_in':
        if (draft.data.lists.has(listId)) return
        draft.addList(
          {
            id: listId,
            boardId: entry.boardId,
            name: to('name'),
            openCards: 0,
            wipLimit: to('wipLimit'),
            wipMode: to('wipMode'),
            archivedAt: null,
            createdAt: entry.at,
            updatedAt: entry.at,
          },
          position ?? 'bottom',
        )
        return
      case 'list.updated':
        for (const field of ['name', 'wipLimit', 'wipMode'] as const) {
          if (has(field)) draft.patch('lists', listId, { [field]: to(field) })
        }
        return
      case 'list.moved':
        draft.placeList(listId, position ?? 'bottom')
        return
      case 'list.archived':
        draft.archiveList(listId, entry.at)
        return
      case 'list.restored':
        if (!draft.data.lists.has(listId)) {
          stale.board = true
          return
        }
        draft.restoreList(listId, position ?? 'bottom')
        return
      case 'list.moved_away':
      case 'list.deleted':
        draft.removeList(listId)
        return
    }
    return
  }

  switch (type) {
    case 'label.created':
      draft.set('labels', to('labelId'), {
        id: to<string>('labelId'),
        boardId: entry.boardId,
        name: to<string>('name'),
        color: to<LabelColor>('color'),
        createdAt: entry.at,
        updatedAt: entry.at,
      })
      return
    case 'label.updated':
      changeLabel(draft, { labelId: to('labelId'), name: to('name'), color: to('color') })
      return
    case 'label.deleted':
      dropLabel(draft, { labelId: entry.changes.labelId?.from as string })
      return
  }
  if (part === 'members') stale.members = true
  else if (part === 'board' || part === undefined) stale.board = true
}

function applyToCard(draft: Draft, entry: Activity, known: Card): void {
  const fields: Partial<Card> = { updatedAt: entry.at }
  const changes = entry.changes
  const isCard = partOf(entry.type) === 'card'
  for (const field of ['title', 'done', 'dueDate', 'dueAt', 'startDate', 'startAt', 'timeZone'] as const) {
    const change = changes[field]
    if (change && isCard) Object.assign(fields, { [field]: change.to })
  }
  if (changes.done && isCard) fields.doneAt = changes.done.to ? entry.at : null
  if (changes.labels) {
    fields.labels = draft.labelRefs((changes.labels.to as string[] | null) ?? [])
  }
  if (changes.assignees) fields.assignees = people(draft, (changes.assignees.to as string[] | null) ?? [], known)
  if (changes.archivedAt) {
    fields.archivedAt = changes.archivedAt.to ? entry.at : null
    fields.archivedBy = changes.archivedAt.to ? 'card' : null
  }
  if (fields.archivedAt) draft.detachCard(known.id)
  draft.patch('cards', known.id, fields)
  const position = changes.position?.to as Position | undefined
  if (position && isCard && entry.type !== 'card.created') {
    draft.placeCard(known.id, (changes.listId?.to as string | undefined) ?? entry.listId ?? known.listId, position)
  }
}

function people(draft: Draft, ids: string[], known?: Card): { id: string; name: string }[] {
  return ids.map((id) => {
    const name = draft.data.members.get(id)?.name ?? known?.assignees.find((a) => a.id === id)?.name ?? ''
    return { id, name }
  })
}

function initialCard(draft: Draft, entry: Activity): Card {
  const to = <T>(field: string, absent: T): T => (entry.changes[field]?.to as T | undefined) ?? absent
  return {
    ...emptyCard(entry.cardId!, entry.boardId, entry.listId!, entry.actor.id, entry.at),
    title: to('title', ''),
    number: to('number', 0),
    done: to('done', false),
    labels: draft.labelRefs(to<string[]>('labels', [])),
    assignees: people(draft, to<string[]>('assignees', [])),
    dueDate: to('dueDate', null),
    startDate: to('startDate', null),
    timeZone: to('timeZone', null),
  }
}
