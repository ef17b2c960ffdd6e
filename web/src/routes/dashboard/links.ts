// What is behind a figure of the dashboard: the search that finds its cards.
import { addDays } from '../../state/due'
import { quoted } from '../search/query'

export function searchLink(workspaceId: string, q: string): string {
  return `/search?${new URLSearchParams({ q, workspace: workspaceId }).toString()}`
}

/** The cards made or done in a week, archived ones too. */
export function weekQuery(what: 'created' | 'completed', monday: string): string {
  return `${what}:${monday}..${addDays(monday, 6)} is:${what === 'created' ? 'open,done' : 'done'},archived`
}

/** The open cards of a part of a breakdown; null when no search tells it from others. */
export function partQuery(
  part: { boardId: string; listId?: string } | { userId: string } | { name: string },
): string | null {
  if ('listId' in part && part.listId) return `is:open list:${part.listId}`
  if ('boardId' in part) return `is:open board:${part.boardId}`
  if ('userId' in part) return `is:open member:${part.userId}`
  return part.name.trim() ? `is:open label:${quoted(part.name)}` : null
}

/** The open cards that did not change in the 14 days before. */
export function staleQuery(today: string): string {
  return `is:open updated:<=${addDays(today, -14)} sort:updated`
}
