// Operations on the board, its lists and its labels.
import { api, app, data } from '../../api/client'
import type { Board, Job, LabelColor, Label, LabelRef, List, Position } from '../../api/types'
import type { BoardInfo, Draft } from '../boardData'
import { isJob } from '../jobs.svelte'
import type { Dropped } from './card'
import { withChanges, defined, idempotencyHeader, without, type Definitions } from './definition'

export type BoardInputs = {
  create_list: { id: string; name: string; position: Position }
  update_list: { listId: string; name?: string; wipLimit?: number | null; wipMode?: 'soft' | 'hard' }
  move_list: { listId: string; position: Position }
  /** Moves a list with its cards to another board. */
  move_list_to_board: { listId: string; boardId: string; position: Position }
  copy_list: { id: string; listId: string; name: string; position: Position }
  archive_list: { listId: string }
  restore_list: { listId: string; position: Position }
  create_label: { id: string; name: string; color: LabelColor }
  update_label: { labelId: string; name?: string; color?: LabelColor }
  delete_label: { labelId: string }
  update_board: {
    name?: string
    description?: string
    color?: LabelColor | null
    background?: string | null
    visibility?: BoardInfo['visibility']
    features?: Partial<Board['features']>
  }
  archive_board: Record<string, never>
  restore_board: Record<string, never>
  set_collapsed_lists: { listIds: string[] }
  set_star: { starred: boolean }
  set_watch: { watched: boolean }
}

export type BoardResults = { [K in keyof BoardInputs]: unknown } & {
  create_list: List
  /** A job if the list is large. */
  copy_list: List | Job
  create_label: Label
  update_list: List
  /** A job if the list is large. */
  move_list_to_board: ({ list: List } & Dropped) | Job
}

function relabel(draft: Draft, labelId: string, change: (labels: LabelRef[]) => LabelRef[]): void {
  for (const c of draft.data.cards.values()) {
    if (c.labels.some((l) => l.id === labelId)) draft.patch('cards', c.id, { labels: change(c.labels) })
  }
}

export const boards: Definitions<BoardInputs, BoardResults> = {
  create_list: {
    apply(draft, { id, name, position }, { boardId, now }) {
      const times = { archivedAt: null, createdAt: now, updatedAt: now }
      draft.addList({ id, boardId, name, openCards: 0, wipLimit: null, wipMode: 'soft', ...times }, position)
    },
    send: ({ name, position }, key, { boardId }) =>
      data(
        api.POST('/boards/{boardId}/lists', {
          params: { path: { boardId }, header: idempotencyHeader(key) },
          body: { name, position },
        }),
      ),
    reconcile: (draft, { position }, result) => draft.addList(result, position),
  },
  update_list: {
    apply: (draft, { listId, ...fields }) => draft.patch('lists', listId, defined(fields)),
    send: ({ listId, ...body }, key) =>
      data(api.PATCH('/lists/{listId}', { params: { path: { listId }, header: idempotencyHeader(key) }, body })),
    reconcile: (draft, { listId }, result) => draft.set('lists', listId, result),
  },
  move_list: {
    apply: (draft, { listId, position }) => draft.placeList(listId, position),
    send: ({ listId, position }, key) =>
      data(
        api.POST('/lists/{listId}/move', {
          params: { path: { listId }, header: idempotencyHeader(key) },
          body: { position },
        }),
      ),
    reconcile: (draft, { listId, position }) => draft.placeList(listId, position),
  },
  move_list_to_board: {
    apply(draft, { listId, boardId }) {
      if (boardId !== draft.data.board.id) draft.removeList(listId)
    },
    send: ({ listId, boardId, position }, key) =>
      data<({ list: List } & Dropped) | Job>(
        api.POST('/lists/{listId}/move-to-board', {
          params: { path: { listId }, header: idempotencyHeader(key) },
          body: { boardId, position },
        }),
      ),
    reconcile(draft, { listId, boardId, position }, result) {
      if (boardId !== draft.data.board.id) draft.removeList(listId)
      else if (isJob(result))
        return // the list and its cards will arrive as changes
      else draft.addList(result.list, position)
    },
  },
  copy_list: {
    apply(draft, { id, listId, name, position }) {
      const known = draft.data.lists.get(listId)
      if (known) draft.addList({ ...known, id, name }, position)
    },
    send: ({ listId, name, position }, key) =>
      data<List | Job>(
        api.POST('/lists/{listId}/copy', {
          params: { path: { listId }, header: idempotencyHeader(key) },
          body: { name, position },
        }),
      ),
    reconcile(draft, { position }, result) {
      if (!isJob(result)) draft.addList(result, position) // otherwise, it will appear when the job is done
    },
  },
  archive_list: {
    apply(draft, { listId }, { now }) {
      draft.archiveList(listId, now)
    },
    send: ({ listId }, key) =>
      data(api.POST('/lists/{listId}/archive', { params: { path: { listId }, header: idempotencyHeader(key) } })),
    reconcile(draft, { listId }) {
      draft.archiveList(listId, new Date().toISOString())
    },
  },
  restore_list: {
    apply: restoreList,
    send: ({ listId }, key) =>
      data(api.POST('/lists/{listId}/restore', { params: { path: { listId }, header: idempotencyHeader(key) } })),
    reconcile: restoreList,
  },
  create_label: {
    apply: (draft, { id, name, color }, { boardId, now }) =>
      draft.set('labels', id, { id, boardId, name, color, createdAt: now, updatedAt: now }),
    send: ({ name, color }, key, { boardId }) =>
      data(
        api.POST('/boards/{boardId}/labels', {
          params: { path: { boardId }, header: idempotencyHeader(key) },
          body: { name, color },
        }),
      ),
    reconcile: (draft, _, result) => draft.set('labels', result.id, result),
  },
  update_label: {
    apply: changeLabel,
    send: ({ labelId, ...body }, key) =>
      data(api.PATCH('/labels/{labelId}', { params: { path: { labelId }, header: idempotencyHeader(key) }, body })),
    reconcile: changeLabel,
  },
  delete_label: {
    apply: dropLabel,
    send: ({ labelId }, key) =>
      data(api.DELETE('/labels/{labelId}', { params: { path: { labelId }, header: idempotencyHeader(key) } })),
    reconcile: dropLabel,
  },
  update_board: {
    apply: changeBoard,
    send: (body, key, { boardId }) =>
      data(api.PATCH('/boards/{boardId}', { params: { path: { boardId }, header: idempotencyHeader(key) }, body })),
    reconcile: changeBoard,
  },
  archive_board: {
    apply: (draft, _, { now }) => draft.patchBoard({ archivedAt: now }),
    send: (_, key, { boardId }) =>
      data(api.POST('/boards/{boardId}/archive', { params: { path: { boardId }, header: idempotencyHeader(key) } })),
    reconcile: (draft) => draft.patchBoard({ archivedAt: new Date().toISOString() }),
  },
  restore_board: {
    apply: (draft) => draft.patchBoard({ archivedAt: null }),
    send: (_, key, { boardId }) =>
      data(api.POST('/boards/{boardId}/restore', { params: { path: { boardId }, header: idempotencyHeader(key) } })),
    reconcile: (draft) => draft.patchBoard({ archivedAt: null }),
  },
  set_collapsed_lists: {
    apply: (draft, { listIds }) => draft.collapse(listIds),
    send: (body, key, { boardId }) =>
      data(
        app.PUT('/boards/{boardId}/collapsed-lists', {
          params: { path: { boardId } },
          headers: idempotencyHeader(key),
          body,
        }),
      ),
    reconcile: (draft, { listIds }) => draft.collapse(listIds),
  },
  set_star: {
    apply: (draft, { starred }) => draft.star(starred),
    send: ({ starred }, key, { boardId }) => {
      const at = { params: { path: { boardId } }, headers: idempotencyHeader(key) }
      return data(starred ? app.PUT('/boards/{boardId}/star', at) : app.DELETE('/boards/{boardId}/star', at))
    },
    reconcile: (draft, { starred }) => draft.star(starred),
  },
  set_watch: {
    apply: (draft, { watched }) => draft.watch(watched),
    send: ({ watched }, key, { boardId }) => {
      const at = { params: { path: { boardId } }, headers: idempotencyHeader(key) }
      return data(watched ? app.PUT('/boards/{boardId}/watch', at) : app.DELETE('/boards/{boardId}/watch', at))
    },
    reconcile: (draft, { watched }) => draft.watch(watched),
  },
}

function changeBoard(draft: Draft, { features, ...fields }: BoardInputs['update_board']): void {
  const changed = { ...draft.data.board.features, ...features }
  // A confidential board cannot have a public page.
  if (fields.visibility === 'confidential') changed.publicPage = false
  draft.patchBoard({ ...defined(fields), ...(features || fields.visibility ? { features: changed } : {}) })
}

export function changeLabel(draft: Draft, { labelId, ...fields }: BoardInputs['update_label']): void {
  draft.patch('labels', labelId, defined(fields))
  relabel(draft, labelId, (labels) => withChanges(labels, labelId, defined(fields)))
}

export function dropLabel(draft: Draft, { labelId }: BoardInputs['delete_label']): void {
  draft.delete('labels', labelId)
  relabel(draft, labelId, (labels) => without(labels, labelId))
}

function restoreList(draft: Draft, { listId, position }: BoardInputs['restore_list']): void {
  draft.restoreList(listId, position)
}
