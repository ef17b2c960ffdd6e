// A small router on the browser's history. It matches the address against the
// patterns of routes.ts and handles clicks on links inside the application.

let path = $state(location.pathname)
let search = $state(location.search)
let hash = $state(location.hash)

export const address = {
  get path() {
    return path
  },
  get search() {
    return search
  },
  get hash() {
    return hash
  },
  get query() {
    return new URLSearchParams(search)
  },
}

function read(): void {
  path = location.pathname
  search = location.search
  hash = location.hash
}

/** Navigates to an address inside the application. */
export function go(to: string, how: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search + location.hash) return
  if (how.replace) history.replaceState(history.state, '', to)
  else history.pushState({ inside: true }, '', to)
  read()
}

/** Goes back if the previous page is inside the application, or else to the address. */
export function back(otherwise: string): void {
  if ((history.state as { inside?: boolean } | null)?.inside) history.back()
  else go(otherwise)
}

/** Returns the fields of a path that matches a pattern such as /boards/:boardId, or null. */
export function match(pattern: string, at: string): Record<string, string> | null {
  const parts = pattern.split('/')
  const given = at.replace(/(.)\/$/, '$1').split('/')
  if (parts.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of parts.entries()) {
    const value = given[i]!
    if (part.startsWith(':')) {
      const field = decoded(value)
      if (!field) return null
      params[part.slice(1)] = field
    } else if (part !== value) return null
  }
  return params
}

/** Decodes a path segment. Returns null if its percent-encoding is not valid. */
function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value)
  } catch {
    return null
  }
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element | null)?.closest('a')
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
  // The server handles these paths itself.
  if (link.pathname.startsWith('/api/') || link.pathname === '/docs') return
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return
  event.preventDefault()
  go(link.pathname + link.search + link.hash)
}

/** Starts the router. Call it once. */
export function startRouter(): void {
  addEventListener('popstate', read)
  document.addEventListener('click', onClick)
}
