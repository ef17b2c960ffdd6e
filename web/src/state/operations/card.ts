// Operations on cards.
import { api, data } from '../../api/client'
import type { Card, DueInput, LabelRef, Position, UserRef } from '../../api/types'
import { emptyCard, type Draft } from '../boardData'
import { resolve } from '../due'
import { idempotencyHeader, type Definitions } from './definition'

/** The inputs of the operations. Temporary IDs are replaced with server IDs before an operation is sent. */
export type CardInputs = {
  create_card: {
    id: string
    listId: string
    title: string
    position: Position
    labels?: string[]
    assignees?: string[]
  }
  update_card: { cardId: string; title?: string; description?: string; done?: boolean }
  move_card: { cardId: string; listId: string; position: Position }
  archive_card: { cardId: string }
  /** The server restores the former position. Until the page knows it, the card is at the bottom. */
  restore_card: { cardId: string; position?: Position }
  /** Moves a card to another board. */
  move_card_to_board: { cardId: string; boardId: string; listId: string; position: Position }
  copy_card: { id: string; cardId: string; position: Position } & CopyOptions
  set_card_labels: { cardId: string; add?: string[]; remove?: string[] }
  set_card_assignees: { cardId: string; add?: string[]; remove?: string[] }
  set_card_due: { cardId: string; due: DueInput }
  clear_card_due: { cardId: string }
}

/** The list, title and contents of a copy. */
export type CopyOptions = {
  /** The list of the original card by default. */
  listId?: string
  title?: string
  includeLabels?: boolean
  includeAssignees?: boolean
  includeDue?: boolean
  includeChecklists?: boolean
  includeComments?: boolean
}

/** The labels and assignees that a card loses when it moves to another board. */
export type Dropped = { droppedLabels: LabelRef[]; droppedAssignees: UserRef[] }

export type CardResults = { [K in keyof CardInputs]: unknown } & {
  create_card: Card
  copy_card: Card
  update_card: Card
  restore_card: Card
  move_card_to_board: { card: Card } & Dropped
  set_card_labels: Card
  set_card_assignees: Card
  set_card_due: Card
  clear_card_due: Card
}

const card = (cardId: string, key: string) => ({ path: { cardId }, header: idempotencyHeader(key) })

function reconcileCard(draft: Draft, _: unknown, result: Card): void {
  const known = draft.data.cards.get(result.id)
  if (!known) return
  // Other operations and changes update the position of the card and the counts of its contents.
  const { listId, archivedAt, archivedBy, comments, checklistItems, attachments, cover } = known
  const kept = { listId, archivedAt, archivedBy, comments, checklistItems, attachments, cover }
  draft.set('cards', result.id, { ...result, ...kept })
}

export const cards: Definitions<CardInputs, CardResults> = {
  create_card: {
    apply(draft, { id, listId, title, position, labels = [], assignees = [] }, { boardId, me, now }) {
      const people = draft.data.members
      draft.set('cards', id, {
        ...emptyCard(id, boardId, listId, me.id, now),
        title,
        labels: draft.labelRefs(labels),
        assignees: assignees.flatMap((a) => people.get(a) ?? []).map((p) => ({ id: p.id, name: p.name })),
      })
      draft.set('details', id, { description: '', checklists: [], comments: [], attachments: [] })
      draft.placeCard(id, listId, position)
    },
    send: ({ id: _, ...body }, key) => data(api.POST('/cards', { params: { header: idempotencyHeader(key) }, body })),
    reconcile(draft, { position }, result) {
      draft.set('cards', result.id, result)
      const description = result.description ?? ''
      draft.set('details', result.id, { description, checklists: [], comments: [], attachments: [] })
      draft.placeCard(result.id, result.listId, position)
    },
  },
  update_card: {
    apply(draft, { cardId, title, description, done }, { now }) {
      if (title !== undefined) draft.patch('cards', cardId, { title })
      if (done !== undefined) draft.patch('cards', cardId, { done, doneAt: done ? now : null })
      if (description !== undefined) draft.patch('details', cardId, { description })
    },
    send: ({ cardId, ...body }, key) => data(api.PATCH('/cards/{cardId}', { params: card(cardId, key), body })),
    reconcile(draft, input, result) {
      reconcileCard(draft, input, result)
      if (result.description !== undefined) draft.patch('details', result.id, { description: result.description })
    },
  },
  move_card: {
    apply: (draft, { cardId, listId, position }) => draft.placeCard(cardId, listId, position),
    send: ({ cardId, ...body }, key) => data(api.POST('/cards/{cardId}/move', { params: card(cardId, key), body })),
    reconcile: (draft, { cardId, listId, position }) => draft.placeCard(cardId, listId, position),
  },
  archive_card: {
    apply(draft, { cardId }, { now }) {
      draft.detachCard(cardId)
      draft.patch('cards', cardId, { archivedAt: now, archivedBy: 'card' })
    },
    send: ({ cardId }, key) => data(api.POST('/cards/{cardId}/archive', { params: card(cardId, key) })),
    reconcile(draft, { cardId }) {
      draft.detachCard(cardId)
      draft.patch('cards', cardId, { archivedAt: new Date().toISOString(), archivedBy: 'card' })
    },
  },
  restore_card: {
    apply(draft, { cardId, position = 'bottom' }) {
      const known = draft.data.cards.get(cardId)
      if (!known?.archivedAt) return
      draft.patch('cards', cardId, { archivedAt: null, archivedBy: null })
      draft.placeCard(cardId, known.listId, position)
    },
    send: ({ cardId }, key) => data(api.POST('/cards/{cardId}/restore', { params: card(cardId, key) })),
    reconcile(draft, { cardId, position = 'bottom' }, result) {
      const placed = draft.data.cards.get(cardId)?.archivedAt === null // by the change, which arrived first
      draft.set('cards', cardId, result)
      if (!placed) draft.placeCard(cardId, result.listId, position)
    },
  },
  move_card_to_board: {
    apply(draft, { cardId, boardId }) {
      if (boardId !== draft.data.board.id) draft.removeCard(cardId)
    },
    send: ({ cardId, listId, position }, key) =>
      data(api.POST('/cards/{cardId}/move-to-board', { params: card(cardId, key), body: { listId, position } })),
    reconcile(draft, { cardId, position }, result) {
      if (result.card.boardId !== draft.data.board.id) draft.removeCard(cardId)
      else {
        // The operation undoes a move and brings the card back.
        draft.set('cards', cardId, result.card)
        draft.placeCard(cardId, result.card.listId, position)
      }
    },
  },
  copy_card: {
    apply(draft, { id, cardId, listId, position, ...options }, { now }) {
      const known = draft.data.cards.get(cardId)
      const to = listId ?? known?.listId
      if (!known || !to || !draft.data.lists.has(to)) return
      draft.set('cards', id, {
        ...known,
        ...copyFields(known, options),
        id,
        number: 0,
        comments: 0,
        createdAt: now,
        url: '',
      })
      draft.placeCard(id, to, position)
    },
    send: ({ id: _, cardId, ...body }, key) =>
      data(api.POST('/cards/{cardId}/copy', { params: card(cardId, key), body })),
    reconcile(draft, { position }, result) {
      if (result.boardId !== draft.data.board.id) return
      draft.set('cards', result.id, result)
      draft.placeCard(result.id, result.listId, position)
    },
  },
  set_card_labels: {
    apply(draft, { cardId, add = [], remove = [] }) {
      const known = draft.data.cards.get(cardId)
      if (!known) return
      const kept = known.labels.filter((l) => !remove.includes(l.id) && !add.includes(l.id))
      draft.patch('cards', cardId, { labels: [...kept, ...draft.labelRefs(add)] })
    },
    send: ({ cardId, ...body }, key) => data(api.PATCH('/cards/{cardId}/labels', { params: card(cardId, key), body })),
    reconcile: reconcileCard,
  },
  set_card_assignees: {
    apply(draft, { cardId, add = [], remove = [] }) {
      const known = draft.data.cards.get(cardId)
      if (!known) return
      const kept = known.assignees.filter((a) => !remove.includes(a.id) && !add.includes(a.id))
      const added = add.flatMap((id) => draft.data.members.get(id) ?? []).map(({ id, name }) => ({ id, name }))
      draft.patch('cards', cardId, { assignees: [...kept, ...added] })
    },
    send: ({ cardId, ...body }, key) =>
      data(api.PATCH('/cards/{cardId}/assignees', { params: card(cardId, key), body })),
    reconcile: reconcileCard,
  },
  set_card_due: {
    apply: (draft, { cardId, due }) => draft.patch('cards', cardId, resolve(due)),
    send: ({ cardId, due }, key) => {
      // The server leaves a date unchanged if its field is absent, so send null to remove the date.
      const body = { ...due, dueDate: due.dueDate ?? null, startDate: due.startDate ?? null }
      return data(api.PUT('/cards/{cardId}/due', { params: card(cardId, key), body }))
    },
    reconcile: reconcileCard,
  },
  clear_card_due: {
    apply: (draft, { cardId }) => draft.patch('cards', cardId, resolve({})),
    send: ({ cardId }, key) => data(api.DELETE('/cards/{cardId}/due', { params: card(cardId, key) })),
    reconcile: reconcileCard,
  },
}

/** Returns the fields in which a copy differs from the original card. */
function copyFields(known: Card, options: CopyOptions): Partial<Card> {
  return {
    done: false,
    doneAt: null,
    checklistItems: { done: 0, total: options.includeChecklists === false ? 0 : known.checklistItems.total },
    ...(options.title ? { title: options.title } : {}),
    ...(options.includeLabels === false ? { labels: [] } : {}),
    ...(options.includeAssignees === false ? { assignees: [] } : {}),
    ...(options.includeDue === false
      ? { dueDate: null, dueAt: null, startDate: null, startAt: null, timeZone: null }
      : {}),
  }
}
