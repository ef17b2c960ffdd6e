// The saved filters of all workspaces of a person.
import { api } from '../../api/client'
import type { components } from '../../api/schema'
import { session } from '../../state/session.svelte'
import { everything } from '../profile/remote.svelte'

export type SavedFilter = components['schemas']['SavedFilter']

export async function loadFilters(): Promise<SavedFilter[]> {
  const found = await Promise.allSettled(
    session.workspaces.map((w) =>
      everything((query) => api.GET('/saved-filters', { params: { query: { ...query, workspaceId: w.id } } })),
    ),
  )
  // A workspace may just have gone; its filters went with it.
  const first = found.find((one) => one.status === 'rejected')
  if (first && found.every((one) => one.status === 'rejected')) throw first.reason
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
}

/** What a broken filter looks for in vain, and its query without the id; null when it is not one thing named by id. */
export function lost({ broken, query }: Pick<SavedFilter, 'broken' | 'query'>): { what: string; query: string } | null {
  const ids = broken ? [...query.matchAll(/(\w+):([a-z]{3}_[0-9a-z]{20,})/g)] : []
  if (ids.length !== 1) return null
  const [all, what] = ids[0]!
  return { what: what!, query: query.replace(all, `${what}:(deleted)`) }
}
