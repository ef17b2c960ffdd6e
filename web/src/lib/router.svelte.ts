// The history of the browser, and nothing more: an address is matched against
// the patterns of routes.ts, and plain links inside the application are caught.

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

/** Goes to an address inside the application. */
export function go(to: string, how: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search + location.hash) return
  if (how.replace) history.replaceState(history.state, '', to)
  else history.pushState({ inside: true }, '', to)
  read()
}

/** Goes back when the page before was ours, else to the address. */
export function back(otherwise: string): void {
  if ((history.state as { inside?: boolean } | null)?.inside) history.back()
  else go(otherwise)
}

/** The fields of a pattern such as /boards/:boardId in a path, or null. */
export function match(pattern: string, at: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const given = at.replace(/(.)\/$/, '$1').split('/')
  if (wanted.length !== given.length) return null
  const fields: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i]!
    if (part.startsWith(':')) {
      const field = decoded(value)
      if (!field) return null
      fields[part.slice(1)] = field
    } else if (part !== value) return null
  }
  return fields
}

/** A part of a path as it was written; null where a % begins nothing. */
function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value)
  } catch {
    return null
  }
}

function followed(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element | null)?.closest('a')
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
  // What the server itself answers is not a page.
  if (link.pathname.startsWith('/api/') || link.pathname === '/docs') return
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return
  event.preventDefault()
  go(link.pathname + link.search + link.hash)
}

/** Begins to listen; called once. */
export function startRouter(): void {
  addEventListener('popstate', read)
  document.addEventListener('click', followed)
}
