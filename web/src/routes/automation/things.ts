// What a rule can name: the board's lists and labels, and the people who see it.
import { api, data } from '../../api/client'
import type { BoardDetail, BoardMember } from '../../api/types'
import { byName } from '../../lib/natural'
import { everything } from '../profile/remote.svelte'

export type Named = { id: string; name: string }
/** A label, with the words that name it in a sentence: a label without a name is called by its color. */
export type NamedLabel = Named & { phrase: string }

export type Things = {
  board: BoardDetail
  lists: readonly Named[]
  labels: readonly NamedLabel[]
  people: readonly Named[]
}

export async function loadThings(boardId: string): Promise<Things> {
  const path = { boardId }
  const [board, people] = await Promise.all([
    data(api.GET('/boards/{boardId}', { params: { path } })),
    everything<BoardMember>((query) => api.GET('/boards/{boardId}/members', { params: { path, query } })),
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

export const labelText = (things: Things, id: unknown): string =>
  things.labels.find((one) => one.id === id)?.phrase ?? 'a label that no longer exists'

export const nameIn = (all: readonly Named[], id: unknown, otherwise: string): string =>
  all.find((one) => one.id === id)?.name ?? otherwise
