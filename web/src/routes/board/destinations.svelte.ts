// Destinations for moved and copied cards and lists: the boards that the person may edit, and their lists.
import { all, api, reason } from '../../api/client'
import type { List } from '../../api/types'
import { session } from '../../state/session.svelte'
import type { BoardPage } from './boardPage.svelte'

export type Target = { id: string; name: string; workspace: string }

/** Returns the boards that the person may edit, this one first. */
export function targets(page: BoardPage): Target[] {
  const here = page.view.board
  const others = session.workspaces.flatMap((w) =>
    w.readOnly
      ? []
      : w.boards
          .filter((b) => !b.archivedAt && b.id !== here.id && (b.role === 'admin' || b.role === 'editor'))
          .map((b) => ({ id: b.id, name: b.name, workspace: w.name })),
  )
  const workspace = session.workspaces.find((w) => w.id === here.workspaceId)?.name ?? ''
  return [{ id: here.id, name: here.name, workspace }, ...others]
}

/** The open lists of a chosen board. Those of another board are loaded. */
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
