// Filters of the audit log, in the URL and as query parameters of the API.
export type AuditFilter = {
  actor: string
  operation: string
  board: string
  token: string
  from: string
  to: string
}

const fields = ['actor', 'operation', 'board', 'token', 'from', 'to'] as const

export function filterOf(query: URLSearchParams): AuditFilter {
  const filter = { actor: '', operation: '', board: '', token: '', from: '', to: '' }
  for (const name of fields) filter[name] = query.get(name) ?? ''
  return filter
}

/** Returns the query string, such as "?actor=…", or '' if no filter is set. */
export function searchOf(filter: AuditFilter): string {
  const query = new URLSearchParams()
  for (const name of fields) if (filter[name]) query.set(name, filter[name])
  return query.size ? `?${query}` : ''
}

/** Returns the query parameters of the API. Omits empty filters. */
export function paramsOf(filter: AuditFilter): Record<string, string> {
  const { actor, operation, board, token, from, to } = filter
  return Object.fromEntries(
    Object.entries({ actor, operation, boardId: board, tokenId: token, from, to }).filter(([, v]) => v !== ''),
  )
}

export const isFiltered = (filter: AuditFilter): boolean => fields.some((name) => filter[name] !== '')
