// Filters of the audit log, in the address and as query parameters of the API.
export type AuditFilter = {
  actor: string
  operation: string
  board: string
  token: string
  from: string
  to: string
}

const names = ['actor', 'operation', 'board', 'token', 'from', 'to'] as const

export function filterOf(query: URLSearchParams): AuditFilter {
  const out = { actor: '', operation: '', board: '', token: '', from: '', to: '' }
  for (const name of names) out[name] = query.get(name) ?? ''
  return out
}

/** Returns the query string: "?actor=…", or ''. */
export function searchOf(filter: AuditFilter): string {
  const query = new URLSearchParams()
  for (const name of names) if (filter[name]) query.set(name, filter[name])
  return query.size ? `?${query}` : ''
}

/** Returns the API parameters. Empty filters are left out. */
export function paramsOf(filter: AuditFilter): Record<string, string> {
  const { actor, operation, board, token, from, to } = filter
  return Object.fromEntries(
    Object.entries({ actor, operation, boardId: board, tokenId: token, from, to }).filter(([, v]) => v !== ''),
  )
}

export const isFiltered = (filter: AuditFilter): boolean => names.some((name) => filter[name] !== '')
