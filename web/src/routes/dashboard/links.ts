// Search queries for the cards that the dashboard’s figures count.
import { addDays } from '../../state/due'
import { quoteName } from '../search/query'

export function searchLink(workspaceId: string, q: string): string {
  return `/search?${new URLSearchParams({ q, workspace: workspaceId }).toString()}`
}

/** Returns a query for the cards created or completed in a week, including archived ones. */
export function weekQuery(event: 'created' | 'completed', monday: string): string {
  return `${event}:${monday}..${addDays(monday, 6)} is:${event === 'created' ? 'open,done' : 'done'},archived`
}

/** Returns a query for the open cards of a part of a breakdown, or null if there is no such query. */
export function partQuery(
  part: { boardId: string; listId?: string } | { userId: string } | { name: string },
): string | null {
  if ('listId' in part && part.listId) return `is:open list:${part.listId}`
  if ('boardId' in part) return `is:open board:${part.boardId}`
  if ('userId' in part) return `is:open member:${part.userId}`
  return part.name.trim() ? `is:open label:${quoteName(part.name)}` : null
}

/** Returns a query for the open cards that have not changed for 14 days. */
export function staleQuery(today: string): string {
  return `is:open updated:<=${addDays(today, -14)} sort:updated`
}
