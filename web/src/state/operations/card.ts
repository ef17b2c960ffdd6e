// Cards: made, changed, moved, copied, archived.
import { api, data } from '../../api/client'
import type { Card, DueInput, Label, LabelRef, Position, UserRef } from '../../api/types'
import type { Draft } from '../board-data'
import { resolve } from '../due'
import { keyed, type Definitions } from './definition'

/** Inputs of each operation. An id that was made here is replaced before sending. */
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
  restore_card: { cardId: string; position: Position }
  /** To another board; the card leaves this one. */
  move_card_to_board: { cardId: string; boardId: string; listId: string; position: Position }
  copy_card: { id: string; cardId: string; position: Position } & CopyChoices
  set_card_labels: { cardId: string; add?: string[]; remove?: string[] }
  set_card_assignees: { cardId: string; add?: string[]; remove?: string[] }
  set_card_due: { cardId: string; due: DueInput }
  clear_card_due: { cardId: string }
}

/** Where a copy goes, when not beside the card, and what it carries. */
export type CopyChoices = {
  listId?: string
  title?: string
  includeLabels?: boolean
  includeAssignees?: boolean
  includeDue?: boolean
  includeChecklists?: boolean
  includeComments?: boolean
}

export type Dropped = { droppedLabels: LabelRef[]; droppedAssignees: UserRef[] }

export type CardAnswers = { [K in keyof CardInputs]: unknown } & {
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

const card = (cardId: string, key: string) => ({ path: { cardId }, header: keyed(key) })

function settleCard(draft: Draft, _: unknown, answer: Card): void {
  const known = draft.data.cards.get(answer.id)
  if (!known) return
  // Where it stands and what hangs on it is told by other operations and changes.
  const { listId, archivedAt, archivedBy, comments, checklistItems } = known
  draft.set('cards', answer.id, { ...answer, listId, archivedAt, archivedBy, comments, checklistItems })
}

const labelRef = ({ id, name, color }: Label): LabelRef => ({ id, name, color })

export const cards: Definitions<CardInputs, CardAnswers> = {
  create_card: {
    apply(draft, { id, listId, title, position, labels = [], assignees = [] }, { boardId, me, now }) {
      const people = draft.data.members
      draft.set('cards', id, {
        id,
        boardId,
        listId,
        title,
        number: 0,
        done: false,
        doneAt: null,
        archivedAt: null,
        archivedBy: null,
        labels: labels.flatMap((l) => draft.data.labels.get(l) ?? []).map(labelRef),
        assignees: assignees.flatMap((a) => people.get(a) ?? []).map((p) => ({ id: p.id, name: p.name })),
        dueDate: null,
        dueAt: null,
        startDate: null,
        startAt: null,
        timeZone: null,
        checklistItems: { done: 0, total: 0 },
        comments: 0,
        createdBy: me.id,
        createdAt: now,
        updatedAt: now,
        url: '',
      })
      draft.set('details', id, { description: '', checklists: [], comments: [] })
      draft.placeCard(id, listId, position)
    },
    send: ({ id: _, ...body }, key) => data(api.POST('/cards', { params: { header: keyed(key) }, body })),
    settle(draft, { position }, answer) {
      draft.set('cards', answer.id, answer)
      draft.set('details', answer.id, { description: answer.description ?? '', checklists: [], comments: [] })
      draft.placeCard(answer.id, answer.listId, position)
    },
  },
  update_card: {
    apply(draft, { cardId, title, description, done }, { now }) {
      if (title !== undefined) draft.patch('cards', cardId, { title })
      if (done !== undefined) draft.patch('cards', cardId, { done, doneAt: done ? now : null })
      if (description !== undefined) draft.patch('details', cardId, { description })
    },
    send: ({ cardId, ...body }, key) => data(api.PATCH('/cards/{cardId}', { params: card(cardId, key), body })),
    settle(draft, input, answer) {
      settleCard(draft, input, answer)
      if (answer.description !== undefined) draft.patch('details', answer.id, { description: answer.description })
    },
  },
  move_card: {
    apply: (draft, { cardId, listId, position }) => draft.placeCard(cardId, listId, position),
    send: ({ cardId, ...body }, key) => data(api.POST('/cards/{cardId}/move', { params: card(cardId, key), body })),
    settle: (draft, { cardId, listId, position }) => draft.placeCard(cardId, listId, position),
  },
  archive_card: {
    apply(draft, { cardId }, { now }) {
      draft.liftCard(cardId)
      draft.patch('cards', cardId, { archivedAt: now, archivedBy: 'card' })
    },
    send: ({ cardId }, key) => data(api.POST('/cards/{cardId}/archive', { params: card(cardId, key) })),
    settle(draft, { cardId }) {
      draft.liftCard(cardId)
      draft.patch('cards', cardId, { archivedAt: new Date().toISOString(), archivedBy: 'card' })
    },
  },
  restore_card: {
    apply(draft, { cardId, position }) {
      const known = draft.data.cards.get(cardId)
      if (!known) return
      draft.patch('cards', cardId, { archivedAt: null, archivedBy: null })
      draft.placeCard(cardId, known.listId, position)
    },
    send: ({ cardId }, key) => data(api.POST('/cards/{cardId}/restore', { params: card(cardId, key) })),
    settle(draft, { cardId, position }, answer) {
      draft.set('cards', cardId, answer)
      draft.placeCard(cardId, answer.listId, position)
    },
  },
  move_card_to_board: {
    apply(draft, { cardId, boardId }) {
      if (boardId !== draft.data.board.id) draft.removeCard(cardId)
    },
    send: ({ cardId, listId, position }, key) =>
      data(api.POST('/cards/{cardId}/move-to-board', { params: card(cardId, key), body: { listId, position } })),
    settle(draft, { cardId, position }, answer) {
      if (answer.card.boardId !== draft.data.board.id) draft.removeCard(cardId)
      else {
        // It comes back.
        draft.set('cards', cardId, answer.card)
        draft.placeCard(cardId, answer.card.listId, position)
      }
    },
  },
  copy_card: {
    apply(draft, { id, cardId, listId, position, ...choices }, { now }) {
      const known = draft.data.cards.get(cardId)
      const to = listId ?? known?.listId
      if (!known || !to || !draft.data.lists.has(to)) return
      draft.set('cards', id, { ...known, ...left(choices), id, number: 0, comments: 0, createdAt: now, url: '' })
      draft.placeCard(id, to, position)
    },
    send: ({ id: _, cardId, ...body }, key) =>
      data(api.POST('/cards/{cardId}/copy', { params: card(cardId, key), body })),
    settle(draft, { position }, answer) {
      if (answer.boardId !== draft.data.board.id) return
      draft.set('cards', answer.id, answer)
      draft.placeCard(answer.id, answer.listId, position)
    },
  },
  set_card_labels: {
    apply(draft, { cardId, add = [], remove = [] }) {
      const known = draft.data.cards.get(cardId)
      if (!known) return
      const kept = known.labels.filter((l) => !remove.includes(l.id) && !add.includes(l.id))
      const added = add.flatMap((id) => draft.data.labels.get(id) ?? []).map(labelRef)
      draft.patch('cards', cardId, { labels: [...kept, ...added] })
    },
    send: ({ cardId, ...body }, key) => data(api.PATCH('/cards/{cardId}/labels', { params: card(cardId, key), body })),
    settle: settleCard,
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
    settle: settleCard,
  },
  set_card_due: {
    apply: (draft, { cardId, due }) => draft.patch('cards', cardId, resolve(due)),
    send: ({ cardId, due }, key) => {
      // To the server a date that is absent stays.
      const body = { ...due, dueDate: due.dueDate ?? null, startDate: due.startDate ?? null }
      return data(api.PUT('/cards/{cardId}/due', { params: card(cardId, key), body }))
    },
    settle: settleCard,
  },
  clear_card_due: {
    apply: (draft, { cardId }) => draft.patch('cards', cardId, resolve({})),
    send: ({ cardId }, key) => data(api.DELETE('/cards/{cardId}/due', { params: card(cardId, key) })),
    settle: settleCard,
  },
}

/** What a copy has other than its card. */
function left(choices: CopyChoices): Partial<Card> {
  return {
    done: false,
    doneAt: null,
    ...(choices.title ? { title: choices.title } : {}),
    ...(choices.includeLabels === false ? { labels: [] } : {}),
    ...(choices.includeAssignees === false ? { assignees: [] } : {}),
    ...(choices.includeDue === false
      ? { dueDate: null, dueAt: null, startDate: null, startAt: null, timeZone: null }
      : {}),
    ...(choices.includeChecklists === false ? { checklistItems: { done: 0, total: 0 } } : {}),
  }
}
