// The board objects that rules can refer to: lists, labels and people.
import { api, data } from '../../api/client'
import type { BoardDetail, BoardMember } from '../../api/types'
import { byName } from '../../lib/naturalOrder'
import { loadAll } from '../../page/remote.svelte'

export type Named = { id: string; name: string }
/** `phrase` is how a sentence refers to the label: by its name or, without a name, by its color. */
export type NamedLabel = Named & { phrase: string }

export type BoardObjects = {
  board: BoardDetail
  lists: readonly Named[]
  labels: readonly NamedLabel[]
  people: readonly Named[]
}

/** Loads the objects that the rules of a board can refer to. */
export async function loadBoardObjects(boardId: string): Promise<BoardObjects> {
  const path = { boardId }
  const [board, people] = await Promise.all([
    data(api.GET('/boards/{boardId}', { params: { path } })),
    loadAll<BoardMember>((query) => api.GET('/boards/{boardId}/members', { params: { path, query } })),
  ])
  const labels = board.labels
    .map(({ id, name, color }) => ({
      id,
      name: name || `${color} (no name)`,
      phrase: name ? `the label ${name}` : `the ${color} label`,
    }))
    .sort(byName)
  return { board, lists: board.lists, labels, people: people.map(({ id, name }) => ({ id, name })) }
}

export const labelText = (objects: BoardObjects, id: unknown): string =>
  objects.labels.find((label) => label.id === id)?.phrase ?? 'a deleted label'

export const nameIn = (objects: readonly Named[], id: unknown, fallback: string): string =>
  objects.find((object) => object.id === id)?.name ?? fallback
