// The board objects that rules can refer to: lists, labels and people.
import { api, data } from '../../api/client'
import type { BoardDetail, BoardMember } from '../../api/types'
import { byName } from '../../lib/naturalOrder'
import { loadAll } from '../../page/remote.svelte'

export type Named = { id: string; name: string }
/** `phrase` refers to the label in a sentence, by its name or else by its color. */
export type NamedLabel = Named & { phrase: string }

export type BoardObjects = {
  board: BoardDetail
  lists: readonly Named[]
  labels: readonly NamedLabel[]
  people: readonly Named[]
}

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
  objects.labels.find((one) => one.id === id)?.phrase ?? 'a deleted label'

export const nameIn = (all: readonly Named[], id: unknown, fallback: string): string =>
  all.find((one) => one.id === id)?.name ?? fallback
