// What a person can do on a board, each as data with three acts: apply shows it
// at once, send asks the server, settle puts the server's answer into its state.
import { api, data, app } from '../api/client'
import type {
  Card,
  Checklist,
  ChecklistItem,
  Comment,
  DueInput,
  Label,
  LabelColor,
  LabelRef,
  List,
  Position,
  UserRef,
} from '../api/types'
import type { BoardInfo, Details, Draft } from './board-data'
import { resolve } from './due'

/** Inputs of each operation. An id that was made here is replaced before sending. */
export type Inputs = {
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
  copy_card: { id: string; cardId: string; position: Position }
  set_card_labels: { cardId: string; add?: string[]; remove?: string[] }
  set_card_assignees: { cardId: string; add?: string[]; remove?: string[] }
  set_card_due: { cardId: string; due: DueInput }
  clear_card_due: { cardId: string }
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
  create_list: { id: string; name: string; position: Position }
  update_list: { listId: string; name?: string; wipLimit?: number | null; wipMode?: 'soft' | 'hard' }
  move_list: { listId: string; position: Position }
  archive_list: { listId: string }
  restore_list: { listId: string; position: Position }
  create_label: { id: string; name: string; color: LabelColor }
  update_label: { labelId: string; name?: string; color?: LabelColor }
  delete_label: { labelId: string }
  update_board: { name?: string; description?: string; visibility?: BoardInfo['visibility'] }
  archive_board: Record<string, never>
  restore_board: Record<string, never>
  set_star: { starred: boolean }
}

export type Kind = keyof Inputs
export type Operation = { [K in Kind]: { kind: K; input: Inputs[K] } }[Kind]

/** Who does it, where and when: what a record made on the page needs. */
export type Context = { boardId: string; me: UserRef; now: string }

type Definition<I, A> = {
  apply: (draft: Draft, input: I, context: Context) => void
  send: (input: I, key: string, context: Context) => Promise<A>
  settle?: (draft: Draft, input: I, answer: A) => void
}

const keyed = (key: string) => ({ 'Idempotency-Key': key })
const card = (cardId: string, key: string) => ({ path: { cardId }, header: keyed(key) })

function settleCard(draft: Draft, _: unknown, answer: Card): void {
  const known = draft.data.cards.get(answer.id)
  if (!known) return
  // Where it stands and what hangs on it is told by other operations and changes.
  const { listId, archivedAt, comments, checklistItems } = known
  draft.set('cards', answer.id, { ...answer, listId, archivedAt, comments, checklistItems })
}

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

const labelRef = ({ id, name, color }: Label): LabelRef => ({ id, name, color })

function relabel(draft: Draft, labelId: string, change: (labels: LabelRef[]) => LabelRef[]): void {
  for (const c of draft.data.cards.values()) {
    if (c.labels.some((l) => l.id === labelId)) draft.patch('cards', c.id, { labels: change(c.labels) })
  }
}

const changed = <T extends { id: string }>(all: T[], id: string, fields: Partial<NoInfer<T>>): T[] =>
  all.map((one) => (one.id === id ? { ...one, ...fields } : one))
const without = <T extends { id: string }>(all: T[], id: string): T[] => all.filter((one) => one.id !== id)

type Answers = { [K in Kind]: unknown } & {
  create_card: Card
  copy_card: Card
  add_checklist: Checklist
  add_checklist_item: ChecklistItem
  add_comment: Comment
  create_list: List
  create_label: Label
  update_card: Card
  restore_card: Card
  set_card_labels: Card
  set_card_assignees: Card
  set_card_due: Card
  clear_card_due: Card
  update_list: List
}

const definitions: { [K in Kind]: Definition<Inputs[K], Answers[K]> } = {
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
      draft.patch('cards', cardId, { archivedAt: now })
    },
    send: ({ cardId }, key) => data(api.POST('/cards/{cardId}/archive', { params: card(cardId, key) })),
    settle(draft, { cardId }) {
      draft.liftCard(cardId)
      draft.patch('cards', cardId, { archivedAt: new Date().toISOString() })
    },
  },
  restore_card: {
    apply(draft, { cardId, position }) {
      const known = draft.data.cards.get(cardId)
      if (!known) return
      draft.patch('cards', cardId, { archivedAt: null })
      draft.placeCard(cardId, known.listId, position)
    },
    send: ({ cardId }, key) => data(api.POST('/cards/{cardId}/restore', { params: card(cardId, key) })),
    settle(draft, { cardId, position }, answer) {
      draft.set('cards', cardId, answer)
      draft.placeCard(cardId, answer.listId, position)
    },
  },
  copy_card: {
    apply(draft, { id, cardId, position }, { now }) {
      const known = draft.data.cards.get(cardId)
      if (!known) return
      draft.set('cards', id, { ...known, id, number: 0, comments: 0, createdAt: now, url: '' })
      draft.placeCard(id, known.listId, position)
    },
    send: ({ cardId, position }, key) =>
      data(api.POST('/cards/{cardId}/copy', { params: card(cardId, key), body: { position } })),
    settle(draft, { position }, answer) {
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
    send: ({ cardId, due }, key) => data(api.PUT('/cards/{cardId}/due', { params: card(cardId, key), body: due })),
    settle: settleCard,
  },
  clear_card_due: {
    apply: (draft, { cardId }) => draft.patch('cards', cardId, resolve({})),
    send: ({ cardId }, key) => data(api.DELETE('/cards/{cardId}/due', { params: card(cardId, key) })),
    settle: settleCard,
  },
  add_checklist: {
    apply: (draft, { id, cardId, title }, { now }) =>
      changeChecklists(draft, cardId, (all) => [
        ...all,
        { id, cardId, title, items: [], createdAt: now, updatedAt: now },
      ]),
    send: ({ cardId, title }, key) =>
      data(api.POST('/cards/{cardId}/checklists', { params: card(cardId, key), body: { title } })),
    settle: (draft, { cardId }, answer) =>
      changeChecklists(draft, cardId, (all) => [...without(all, answer.id), answer]),
  },
  update_checklist: {
    apply: (draft, { cardId, checklistId, title }) =>
      changeChecklists(draft, cardId, (all) => changed(all, checklistId, { title })),
    send: ({ checklistId, title }, key) =>
      data(
        api.PATCH('/checklists/{checklistId}', {
          params: { path: { checklistId }, header: keyed(key) },
          body: { title },
        }),
      ),
    settle: (draft, { cardId, checklistId, title }) =>
      changeChecklists(draft, cardId, (all) => changed(all, checklistId, { title })),
  },
  delete_checklist: {
    apply: (draft, { cardId, checklistId }) => changeChecklists(draft, cardId, (all) => without(all, checklistId)),
    send: ({ checklistId }, key) =>
      data(api.DELETE('/checklists/{checklistId}', { params: { path: { checklistId }, header: keyed(key) } })),
    settle: (draft, { cardId, checklistId }) => changeChecklists(draft, cardId, (all) => without(all, checklistId)),
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
          params: { path: { checklistId }, header: keyed(key) },
          body: { title },
        }),
      ),
    settle: (draft, input, answer) => changeItems(draft, input, (items) => [...without(items, answer.id), answer]),
  },
  update_checklist_item: {
    apply: changeItem,
    send: ({ itemId, title, done, position }, key) =>
      data(
        api.PATCH('/checklist-items/{itemId}', {
          params: { path: { itemId }, header: keyed(key) },
          body: { title, done, position },
        }),
      ),
    settle: changeItem,
  },
  delete_checklist_item: {
    apply: (draft, input) => changeItems(draft, input, (items) => without(items, input.itemId)),
    send: ({ itemId }, key) =>
      data(api.DELETE('/checklist-items/{itemId}', { params: { path: { itemId }, header: keyed(key) } })),
    settle: (draft, input) => changeItems(draft, input, (items) => without(items, input.itemId)),
  },
  add_comment: {
    apply: (draft, { id, cardId, text }, { boardId, me, now }) =>
      changeComments(draft, cardId, 1, (all) => [
        ...all,
        { id, cardId, boardId, text, author: me, createdAt: now, editedAt: null },
      ]),
    send: ({ cardId, text }, key) =>
      data(api.POST('/cards/{cardId}/comments', { params: card(cardId, key), body: { text } })),
    settle: (draft, { cardId }, answer) =>
      changeComments(draft, cardId, 1, (all) => [...without(all, answer.id), answer]),
  },
  edit_comment: {
    apply: (draft, { cardId, commentId, text }, { now }) =>
      changeComments(draft, cardId, 0, (all) => changed(all, commentId, { text, editedAt: now })),
    send: ({ commentId, text }, key) =>
      data(api.PATCH('/comments/{commentId}', { params: { path: { commentId }, header: keyed(key) }, body: { text } })),
    settle: (draft, { cardId, commentId, text }) =>
      changeComments(draft, cardId, 0, (all) => changed(all, commentId, { text, editedAt: new Date().toISOString() })),
  },
  delete_comment: {
    apply: (draft, { cardId, commentId }) => changeComments(draft, cardId, -1, (all) => without(all, commentId)),
    send: ({ commentId }, key) =>
      data(api.DELETE('/comments/{commentId}', { params: { path: { commentId }, header: keyed(key) } })),
    settle: (draft, { cardId, commentId }) => changeComments(draft, cardId, -1, (all) => without(all, commentId)),
  },
  create_list: {
    apply(draft, { id, name, position }, { boardId, now }) {
      draft.set('lists', id, {
        id,
        boardId,
        name,
        openCards: 0,
        wipLimit: null,
        wipMode: 'soft',
        archivedAt: null,
        createdAt: now,
        updatedAt: now,
      })
      draft.set('order', id, [])
      draft.placeList(id, position)
    },
    send: ({ name, position }, key, { boardId }) =>
      data(
        api.POST('/boards/{boardId}/lists', {
          params: { path: { boardId }, header: keyed(key) },
          body: { name, position },
        }),
      ),
    settle(draft, { position }, answer) {
      draft.set('lists', answer.id, answer)
      if (!draft.data.order.has(answer.id)) draft.set('order', answer.id, [])
      draft.placeList(answer.id, position)
    },
  },
  update_list: {
    apply: (draft, { listId, ...fields }) => draft.patch('lists', listId, defined(fields)),
    send: ({ listId, ...body }, key) =>
      data(api.PATCH('/lists/{listId}', { params: { path: { listId }, header: keyed(key) }, body })),
    settle: (draft, { listId }, answer) => draft.set('lists', listId, answer),
  },
  move_list: {
    apply: (draft, { listId, position }) => draft.placeList(listId, position),
    send: ({ listId, position }, key) =>
      data(
        api.POST('/lists/{listId}/move', {
          params: { path: { listId }, header: keyed(key) },
          body: { position },
        }),
      ),
    settle: (draft, { listId, position }) => draft.placeList(listId, position),
  },
  archive_list: {
    apply(draft, { listId }, { now }) {
      draft.liftList(listId)
      draft.patch('lists', listId, { archivedAt: now })
    },
    send: ({ listId }, key) =>
      data(api.POST('/lists/{listId}/archive', { params: { path: { listId }, header: keyed(key) } })),
    settle(draft, { listId }) {
      draft.liftList(listId)
      draft.patch('lists', listId, { archivedAt: new Date().toISOString() })
    },
  },
  restore_list: {
    apply: openList,
    send: ({ listId }, key) =>
      data(api.POST('/lists/{listId}/restore', { params: { path: { listId }, header: keyed(key) } })),
    settle: openList,
  },
  create_label: {
    apply: (draft, { id, name, color }, { boardId, now }) =>
      draft.set('labels', id, { id, boardId, name, color, createdAt: now, updatedAt: now }),
    send: ({ name, color }, key, { boardId }) =>
      data(
        api.POST('/boards/{boardId}/labels', {
          params: { path: { boardId }, header: keyed(key) },
          body: { name, color },
        }),
      ),
    settle: (draft, _, answer) => draft.set('labels', answer.id, answer),
  },
  update_label: {
    apply: changeLabel,
    send: ({ labelId, ...body }, key) =>
      data(api.PATCH('/labels/{labelId}', { params: { path: { labelId }, header: keyed(key) }, body })),
    settle: changeLabel,
  },
  delete_label: {
    apply: dropLabel,
    send: ({ labelId }, key) =>
      data(api.DELETE('/labels/{labelId}', { params: { path: { labelId }, header: keyed(key) } })),
    settle: dropLabel,
  },
  update_board: {
    apply: (draft, fields) => draft.patchBoard(defined(fields)),
    send: (body, key, { boardId }) =>
      data(api.PATCH('/boards/{boardId}', { params: { path: { boardId }, header: keyed(key) }, body })),
    settle: (draft, fields) => draft.patchBoard(defined(fields)),
  },
  archive_board: {
    apply: (draft, _, { now }) => draft.patchBoard({ archivedAt: now }),
    send: (_, key, { boardId }) =>
      data(api.POST('/boards/{boardId}/archive', { params: { path: { boardId }, header: keyed(key) } })),
    settle: (draft) => draft.patchBoard({ archivedAt: new Date().toISOString() }),
  },
  restore_board: {
    apply: (draft) => draft.patchBoard({ archivedAt: null }),
    send: (_, key, { boardId }) =>
      data(api.POST('/boards/{boardId}/restore', { params: { path: { boardId }, header: keyed(key) } })),
    settle: (draft) => draft.patchBoard({ archivedAt: null }),
  },
  set_star: {
    apply: (draft, { starred }) => draft.star(starred),
    send: ({ starred }, key, { boardId }) => {
      const at = { params: { path: { boardId } }, headers: keyed(key) }
      return data(starred ? app.PUT('/boards/{boardId}/star', at) : app.DELETE('/boards/{boardId}/star', at))
    },
    settle: (draft, { starred }) => draft.star(starred),
  },
}

function changeItem(draft: Draft, input: Inputs['update_checklist_item']): void {
  const { itemId, title, done, position } = input
  changeItems(draft, input, (items) => {
    const next = changed(items, itemId, defined({ title, done }))
    if (position === undefined) return next
    const moved = next.find((i) => i.id === itemId)
    if (!moved) return next
    const rest = without(next, itemId)
    const at =
      position === 'top'
        ? 0
        : position === 'bottom'
          ? rest.length
          : 'before' in position
            ? rest.findIndex((i) => i.id === position.before)
            : rest.findIndex((i) => i.id === position.after) + 1
    return [...rest.slice(0, at), moved, ...rest.slice(at)]
  })
}

function changeLabel(draft: Draft, { labelId, ...fields }: Inputs['update_label']): void {
  draft.patch('labels', labelId, defined(fields))
  relabel(draft, labelId, (labels) => changed(labels, labelId, defined(fields)))
}

function dropLabel(draft: Draft, { labelId }: Inputs['delete_label']): void {
  draft.delete('labels', labelId)
  relabel(draft, labelId, (labels) => without(labels, labelId))
}

function openList(draft: Draft, { listId, position }: Inputs['restore_list']): void {
  draft.patch('lists', listId, { archivedAt: null })
  draft.placeList(listId, position)
}

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as Partial<T>
}

const definitionOf = (operation: Operation) => definitions[operation.kind] as Definition<unknown, unknown>

export function apply(draft: Draft, operation: Operation, context: Context): void {
  definitionOf(operation).apply(draft, operation.input, context)
}

export function send(operation: Operation, key: string, context: Context): Promise<unknown> {
  return definitionOf(operation).send(operation.input, key, context)
}

export function settle(draft: Draft, operation: Operation, answer: unknown): void {
  definitionOf(operation).settle?.(draft, operation.input, answer)
}

/** The id that a record got which the operation made, with the one it had until then. */
export function naming(operation: Operation, answer: unknown): { from: string; to: string } | null {
  if (!('id' in operation.input)) return null
  return { from: operation.input.id as string, to: (answer as { id: string }).id }
}

/** The operation with one id in place of another, wherever it stands. */
export function renamed<T>(value: T, from: string, to: string): T {
  if (typeof value === 'string') return (value === from ? to : value) as T
  if (Array.isArray(value)) return value.map((v: unknown) => renamed(v, from, to)) as T
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, renamed(v as unknown, from, to)])) as T
  }
  return value
}

/** Whether the operation speaks of an id. */
export function mentions(value: unknown, id: string): boolean {
  if (typeof value === 'string') return value === id
  if (Array.isArray(value)) return value.some((v) => mentions(v, id))
  return !!value && typeof value === 'object' && Object.values(value).some((v) => mentions(v, id))
}
