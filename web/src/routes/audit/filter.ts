// The filters of the audit log, as the address has them and as the server takes them.
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

/** The part of an address behind the path: "?actor=…", or nothing. */
export function searchOf(filter: AuditFilter): string {
  const query = new URLSearchParams()
  for (const name of names) if (filter[name]) query.set(name, filter[name])
  return query.size ? `?${query}` : ''
}

/** The filters as the server calls them; what is empty is left out. */
export function askedOf(filter: AuditFilter): Record<string, string> {
  const { actor, operation, board, token, from, to } = filter
  return Object.fromEntries(
    Object.entries({ actor, operation, boardId: board, tokenId: token, from, to }).filter(([, v]) => v !== ''),
  )
}

export const isFiltered = (filter: AuditFilter): boolean => names.some((name) => filter[name] !== '')
