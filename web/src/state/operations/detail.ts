// Operations on checklists, checklist items and comments.
import { api, data } from '../../api/client'
import type { Checklist, ChecklistItem, Comment, Position } from '../../api/types'
import { insertAt, type Details, type Draft } from '../boardData'
import { withChanges, defined, idempotencyHeader, without, type Definitions } from './definition'

export type DetailInputs = {
  add_checklist: { id: string; cardId: string; title: string }
  update_checklist: { cardId: string; checklistId: string; title: string }
  delete_checklist: { cardId: string; checklistId: string }
  add_checklist_item: { id: string; cardId: string; checklistId: string; title: string }
  update_checklist_item: {
    cardId: string
    checklistId: string
    itemId: string
    title?: string
    done?: boolean
    position?: Position
  }
  delete_checklist_item: { cardId: string; checklistId: string; itemId: string }
  add_comment: { id: string; cardId: string; text: string }
  edit_comment: { cardId: string; commentId: string; text: string }
  delete_comment: { cardId: string; commentId: string }
}

export type DetailResults = { [K in keyof DetailInputs]: unknown } & {
  add_checklist: Checklist
  add_checklist_item: ChecklistItem
  add_comment: Comment
}

const card = (cardId: string, key: string) => ({ path: { cardId }, header: idempotencyHeader(key) })

function changeDetails(draft: Draft, cardId: string, change: (d: Details) => Partial<Details>): void {
  const details = draft.data.details.get(cardId)
  if (details) draft.set('details', cardId, { ...details, ...change(details) })
}

function changeChecklists(draft: Draft, cardId: string, change: (all: Checklist[]) => Checklist[]): void {
  changeDetails(draft, cardId, (d) => ({ checklists: change(d.checklists) }))
  const details = draft.data.details.get(cardId)
  if (!details) return
  const items = details.checklists.flatMap((c) => c.items)
  draft.patch('cards', cardId, { checklistItems: { total: items.length, done: items.filter((i) => i.done).length } })
}

function changeItems(
  draft: Draft,
  input: { cardId: string; checklistId: string },
  change: (items: ChecklistItem[]) => ChecklistItem[],
): void {
  changeChecklists(draft, input.cardId, (all) =>
    all.map((c) => (c.id === input.checklistId ? { ...c, items: change(c.items) } : c)),
  )
}

function changeComments(draft: Draft, cardId: string, by: number, change: (all: Comment[]) => Comment[]): void {
  const known = draft.data.cards.get(cardId)
  if (known && by !== 0) draft.patch('cards', cardId, { comments: Math.max(0, known.comments + by) })
  changeDetails(draft, cardId, (d) => ({ comments: change(d.comments) }))
}

export const details: Definitions<DetailInputs, DetailResults> = {
  add_checklist: {
    apply: (draft, { id, cardId, title }, { now }) =>
      changeChecklists(draft, cardId, (all) => [
        ...all,
        { id, cardId, title, items: [], createdAt: now, updatedAt: now },
      ]),
    send: ({ cardId, title }, key) =>
      data(api.POST('/cards/{cardId}/checklists', { params: card(cardId, key), body: { title } })),
    reconcile: (draft, { cardId }, result) =>
      changeChecklists(draft, cardId, (all) => [...without(all, result.id), result]),
  },
  update_checklist: {
    apply: (draft, { cardId, checklistId, title }) =>
      changeChecklists(draft, cardId, (all) => withChanges(all, checklistId, { title })),
    send: ({ checklistId, title }, key) =>
      data(
        api.PATCH('/checklists/{checklistId}', {
          params: { path: { checklistId }, header: idempotencyHeader(key) },
          body: { title },
        }),
      ),
    reconcile: (draft, { cardId, checklistId, title }) =>
      changeChecklists(draft, cardId, (all) => withChanges(all, checklistId, { title })),
  },
  delete_checklist: {
    apply: (draft, { cardId, checklistId }) => changeChecklists(draft, cardId, (all) => without(all, checklistId)),
    send: ({ checklistId }, key) =>
      data(
        api.DELETE('/checklists/{checklistId}', { params: { path: { checklistId }, header: idempotencyHeader(key) } }),
      ),
    reconcile: (draft, { cardId, checklistId }) => changeChecklists(draft, cardId, (all) => without(all, checklistId)),
  },
  add_checklist_item: {
    apply: (draft, input, { now }) =>
      changeItems(draft, input, (items) => [
        ...items,
        {
          id: input.id,
          checklistId: input.checklistId,
          title: input.title,
          done: false,
          doneAt: null,
          createdAt: now,
          updatedAt: now,
        },
      ]),
    send: ({ checklistId, title }, key) =>
      data(
        api.POST('/checklists/{checklistId}/items', {
          params: { path: { checklistId }, header: idempotencyHeader(key) },
          body: { title },
        }),
      ),
    reconcile: (draft, input, result) => changeItems(draft, input, (items) => [...without(items, result.id), result]),
  },
  update_checklist_item: {
    apply: changeItem,
    send: ({ itemId, title, done, position }, key) =>
      data(
        api.PATCH('/checklist-items/{itemId}', {
          params: { path: { itemId }, header: idempotencyHeader(key) },
          body: { title, done, position },
        }),
      ),
    reconcile: changeItem,
  },
  delete_checklist_item: {
    apply: (draft, input) => changeItems(draft, input, (items) => without(items, input.itemId)),
    send: ({ itemId }, key) =>
      data(api.DELETE('/checklist-items/{itemId}', { params: { path: { itemId }, header: idempotencyHeader(key) } })),
    reconcile: (draft, input) => changeItems(draft, input, (items) => without(items, input.itemId)),
  },
  add_comment: {
    apply: (draft, { id, cardId, text }, { boardId, me, now }) =>
      changeComments(draft, cardId, 1, (all) => [
        ...all,
        { id, cardId, boardId, text, author: me, guestName: null, createdAt: now, editedAt: null },
      ]),
    send: ({ cardId, text }, key) =>
      data(api.POST('/cards/{cardId}/comments', { params: card(cardId, key), body: { text } })),
    reconcile: (draft, { cardId }, result) =>
      changeComments(draft, cardId, 1, (all) => [...without(all, result.id), result]),
  },
  edit_comment: {
    apply: (draft, { cardId, commentId, text }, { now }) =>
      changeComments(draft, cardId, 0, (all) => withChanges(all, commentId, { text, editedAt: now })),
    send: ({ commentId, text }, key) =>
      data(
        api.PATCH('/comments/{commentId}', {
          params: { path: { commentId }, header: idempotencyHeader(key) },
          body: { text },
        }),
      ),
    reconcile: (draft, { cardId, commentId, text }) =>
      changeComments(draft, cardId, 0, (all) =>
        withChanges(all, commentId, { text, editedAt: new Date().toISOString() }),
      ),
  },
  delete_comment: {
    apply: (draft, { cardId, commentId }) => changeComments(draft, cardId, -1, (all) => without(all, commentId)),
    send: ({ commentId }, key) =>
      data(api.DELETE('/comments/{commentId}', { params: { path: { commentId }, header: idempotencyHeader(key) } })),
    reconcile: (draft, { cardId, commentId }) => changeComments(draft, cardId, -1, (all) => without(all, commentId)),
  },
}

function changeItem(draft: Draft, input: DetailInputs['update_checklist_item']): void {
  const { itemId, title, done, position } = input
  changeItems(draft, input, (items) => {
    const next = withChanges(items, itemId, defined({ title, done }))
    if (position === undefined) return next
    const byId = new Map(next.map((i) => [i.id, i]))
    if (!byId.has(itemId)) return next
    return insertAt([...byId.keys()], itemId, position).map((id) => byId.get(id)!)
  })
}
