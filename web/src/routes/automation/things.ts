// What a rule can name: the board's lists and labels, and the people who see it.
import { api, data } from '../../api/client'
import type { BoardDetail, BoardMember } from '../../api/types'
import { everything } from '../profile/remote.svelte'

export type Named = { id: string; name: string }

export type Things = {
  board: BoardDetail
  lists: readonly Named[]
  labels: readonly Named[]
  people: readonly Named[]
}

export async function loadThings(boardId: string): Promise<Things> {
  const path = { boardId }
  const [board, people] = await Promise.all([
    data(api.GET('/boards/{boardId}', { params: { path } })),
    everything<BoardMember>((query) => api.GET('/boards/{boardId}/members', { params: { path, query } })),
  ])
  const labels = board.labels.map((label) => ({ id: label.id, name: label.name || `the ${label.color} label` }))
  return { board, lists: board.lists, labels, people: people.map(({ id, name }) => ({ id, name })) }
}

export const nameIn = (all: readonly Named[], id: unknown, otherwise: string): string =>
  all.find((one) => one.id === id)?.name ?? otherwise
