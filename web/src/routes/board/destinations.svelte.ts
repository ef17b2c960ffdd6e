// The destinations of moved and copied cards and lists: boards that the user can edit, and their lists.
import { all, api, reason } from '../../api/client'
import type { List } from '../../api/types'
import { session } from '../../state/session.svelte'
import type { BoardPage } from './boardPage.svelte'

export type TargetBoard = { id: string; name: string; workspace: string }

/** Returns the boards that the user can edit. The board of the page comes first. */
export function editableBoards(page: BoardPage): TargetBoard[] {
  const current = page.view.board
  const others = session.workspaces.flatMap((w) =>
    w.readOnly
      ? []
      : w.boards
          .filter((b) => !b.archivedAt && b.id !== current.id && (b.role === 'admin' || b.role === 'editor'))
          .map((b) => ({ id: b.id, name: b.name, workspace: w.name })),
  )
  const workspace = session.workspaces.find((w) => w.id === current.workspaceId)?.name ?? ''
  return [{ id: current.id, name: current.name, workspace }, ...others]
}

/** The open lists of a chosen board. The lists of other boards are loaded from the server. */
export class BoardLists {
  boardId = $state('')
  lists = $state.raw<Pick<List, 'id' | 'name' | 'openCards' | 'wipLimit' | 'wipMode'>[]>([])
  problem = $state<string | null>(null)
  loading = $state(false)

  constructor(private readonly page: BoardPage) {
    this.choose(page.store.id)
  }

  choose(boardId: string): void {
    this.boardId = boardId
    this.problem = null
    const { view, store } = this.page
    if (boardId === store.id) {
      this.lists = view.listOrder.flatMap((id) => view.lists.get(id) ?? [])
      return
    }
    this.lists = []
    this.loading = true
    all((cursor) =>
      api.GET('/boards/{boardId}/lists', { params: { path: { boardId }, query: { limit: 200, cursor } } }),
    )
      .then(
        (lists) => {
          if (this.boardId === boardId) this.lists = lists
        },
        (thrown: unknown) => {
          if (this.boardId === boardId) this.problem = reason(thrown)
        },
      )
      .finally(() => {
        if (this.boardId === boardId) this.loading = false
      })
  }
}
