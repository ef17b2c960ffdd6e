// Saved filters.
import { api } from '../../api/client'
import type { components } from '../../api/schema'
import { session } from '../../state/session.svelte'
import { loadAll } from '../../page/remote.svelte'

export type SavedFilter = components['schemas']['SavedFilter']

/** Loads the saved filters of all of the user’s workspaces. */
export async function loadFilters(): Promise<SavedFilter[]> {
  const results = await Promise.allSettled(
    session.workspaces.map((w) =>
      loadAll((query) => api.GET('/saved-filters', { params: { query: { ...query, workspaceId: w.id } } })),
    ),
  )
  // A workspace may have been deleted in the meantime, so throw only if all requests fail.
  const first = results.find((result) => result.status === 'rejected')
  if (first && results.every((result) => result.status === 'rejected')) throw first.reason
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

/**
 * Returns the kind of object that a broken filter refers to, and the query with the ID
 * replaced by "(deleted)". Returns null if the filter is not broken or its query does not
 * contain exactly one ID.
 */
export function missingReference({
  broken,
  query,
}: Pick<SavedFilter, 'broken' | 'query'>): { kind: string; query: string } | null {
  const ids = broken ? [...query.matchAll(/(\w+):([a-z]{3}_[0-9a-z]{20,})/g)] : []
  if (ids.length !== 1) return null
  const [all, kind] = ids[0]!
  return { kind: kind!, query: query.replace(all, `${kind}:(deleted)`) }
}
