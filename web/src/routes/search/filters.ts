// Loads the saved filters of all workspaces of the person.
import { api } from '../../api/client'
import type { components } from '../../api/schema'
import { session } from '../../state/session.svelte'
import { loadAll } from '../../page/remote.svelte'

export type SavedFilter = components['schemas']['SavedFilter']

export async function loadFilters(): Promise<SavedFilter[]> {
  const results = await Promise.allSettled(
    session.workspaces.map((w) =>
      loadAll((query) => api.GET('/saved-filters', { params: { query: { ...query, workspaceId: w.id } } })),
    ),
  )
  // A workspace may just have been deleted, so fail only if all requests fail.
  const first = results.find((result) => result.status === 'rejected')
  if (first && results.every((result) => result.status === 'rejected')) throw first.reason
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

/**
 * Returns the kind of object that a broken filter refers to, and its query with the ID replaced. Returns null if
 * the query does not have exactly one ID.
 */
export function missingReference({
  broken,
  query,
}: Pick<SavedFilter, 'broken' | 'query'>): { what: string; query: string } | null {
  const ids = broken ? [...query.matchAll(/(\w+):([a-z]{3}_[0-9a-z]{20,})/g)] : []
  if (ids.length !== 1) return null
  const [all, kind] = ids[0]!
  return { what: kind!, query: query.replace(all, `${kind}:(deleted)`) }
}
