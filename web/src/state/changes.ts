// Applies changes by others, from list_board_changes and the live stream, to the
// page's copy of the server state.
import type { Activity, Card, LabelColor, Position } from '../api/types'
import type { Draft } from './boardData'

/** An entry of the live stream, with the client ID of the tab that caused it. */
export type Change = Activity & { client?: string | null }

/** Data that an entry changes without including it, so the page must load it. */
export type Stale = {
  board: boolean
  members: boolean
  /** Cards to load: unknown cards, or cards whose details are shown. */
  cards: Set<string>
}

export const nothingStale = (): Stale => ({ board: false, members: false, cards: new Set() })

/** Applies one entry. It is idempotent, also after the response to the page's own operation. */
export function applyChange(draft: Draft, entry: Activity, stale: Stale): void {
  const to = <T>(field: string): T => entry.changes[field]?.to as T
  const { type, cardId, listId } = entry
  const has = (field: string) => field in entry.changes

  if (cardId) {
    const known = draft.data.cards.get(cardId)
    if (type === 'card.moved' && to('listId') === null) {
      draft.removeCard(cardId)
      return
    }
    if (!known) {
      if (type === 'card.created') {
        draft.set('cards', cardId, initialCard(draft, entry))
        draft.placeCard(cardId, to<string>('listId'), to<Position>('position') ?? 'bottom')
        // A copy may have checklists and comments, of which the entry has only the counts.
        stale.cards.add(cardId)
      } else if (type === 'card.restored' || type === 'card.moved') stale.board = true
      // Other entries are about archived cards that are not loaded.
      return
    }
    applyToCard(draft, entry, known)
    const inside = type.startsWith('comment.') || type.startsWith('checklist')
    if (inside || (type === 'card.updated' && has('description') && draft.data.details.has(cardId))) {
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
        draft.set('lists', listId, {
          id: listId,
          boardId: entry.boardId,
          name: to<string>('name'),
          openCards: 0,
          wipLimit: to<number | null>('wipLimit'),
          wipMode: to<'soft' | 'hard'>('wipMode'),
          archivedAt: null,
          createdAt: entry.at,
          updatedAt: entry.at,
        })
        draft.set('order', listId, [])
        draft.placeList(listId, position ?? 'bottom')
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
        draft.detachList(listId)
        draft.delete('lists', listId)
        draft.delete('order', listId)
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
    case 'label.updated': {
      const id = to<string>('labelId')
      const fields = {
        ...(has('name') ? { name: to<string>('name') } : {}),
        ...(has('color') ? { color: to<LabelColor>('color') } : {}),
      }
      draft.patch('labels', id, fields)
      for (const card of draft.data.cards.values()) {
        if (card.labels.some((l) => l.id === id)) {
          draft.patch('cards', card.id, { labels: card.labels.map((l) => (l.id === id ? { ...l, ...fields } : l)) })
        }
      }
      return
    }
    case 'label.deleted': {
      const id = entry.changes.labelId?.from as string
      draft.delete('labels', id)
      for (const card of draft.data.cards.values()) {
        if (card.labels.some((l) => l.id === id)) {
          draft.patch('cards', card.id, { labels: card.labels.filter((l) => l.id !== id) })
        }
      }
      return
    }
    case 'status.posted':
      return
  }
  if (type.startsWith('board_member.')) stale.members = true
  else if (type.startsWith('board.')) stale.board = true
}

function applyToCard(draft: Draft, entry: Activity, known: Card): void {
  const fields: Partial<Card> = { updatedAt: entry.at }
  const changes = entry.changes
  for (const field of ['title', 'done', 'dueDate', 'dueAt', 'startDate', 'startAt', 'timeZone'] as const) {
    const change = changes[field]
    if (change && !entry.type.startsWith('checklist')) Object.assign(fields, { [field]: change.to })
  }
  if (changes.done && entry.type.startsWith('card.')) fields.doneAt = changes.done.to ? entry.at : null
  if (changes.labels) {
    fields.labels = ((changes.labels.to as string[] | null) ?? [])
      .flatMap((id) => draft.data.labels.get(id) ?? [])
      .map(({ id, name, color }) => ({ id, name, color }))
  }
  if (changes.assignees) fields.assignees = people(draft, (changes.assignees.to as string[] | null) ?? [], known)
  if (changes.archivedAt) {
    fields.archivedAt = changes.archivedAt.to ? entry.at : null
    fields.archivedBy = changes.archivedAt.to ? 'card' : null
  }
  if (fields.archivedAt) draft.detachCard(known.id)
  draft.patch('cards', known.id, fields)
  const position = changes.position?.to as Position | undefined
  if (position && entry.type.startsWith('card.') && entry.type !== 'card.created') {
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
    id: entry.cardId!,
    boardId: entry.boardId,
    listId: entry.listId!,
    title: to('title', ''),
    number: to('number', 0),
    done: to('done', false),
    doneAt: null,
    archivedAt: null,
    archivedBy: null,
    labels: to<string[]>('labels', [])
      .flatMap((id) => draft.data.labels.get(id) ?? [])
      .map(({ id, name, color }) => ({ id, name, color })),
    assignees: people(draft, to<string[]>('assignees', [])),
    dueDate: to('dueDate', null),
    dueAt: to('dueAt', null),
    startDate: to('startDate', null),
    startAt: to('startAt', null),
    timeZone: to('timeZone', null),
    checklistItems: { done: 0, total: 0 },
    comments: 0,
    createdBy: entry.actor.id,
    createdAt: entry.at,
    updatedAt: entry.at,
    url: '',
  }
}
