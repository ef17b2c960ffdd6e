// A small router that uses the browser's history. It matches the URL against the
// patterns in routes.ts and handles clicks on links inside the application.

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

/** Navigates to a URL inside the application. */
export function go(to: string, options: { replace?: boolean } = {}): void {
  if (to === location.pathname + location.search + location.hash) return
  if (options.replace) history.replaceState(history.state, '', to)
  else history.pushState({ inside: true }, '', to)
  read()
}

/** Goes back if the previous page belongs to the application. Otherwise navigates to `fallback`. */
export function back(fallback: string): void {
  if ((history.state as { inside?: boolean } | null)?.inside) history.back()
  else go(fallback)
}

/** Returns the parameters of a path, or null if the path does not match a pattern such as /boards/:boardId. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const parts = pattern.split('/')
  const segments = path.replace(/(.)\/$/, '$1').split('/')
  if (parts.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of parts.entries()) {
    const segment = segments[i]!
    if (part.startsWith(':')) {
      const value = decode(segment)
      if (!value) return null
      params[part.slice(1)] = value
    } else if (part !== segment) return null
  }
  return params
}

/** Decodes a path segment. Returns null if its percent-encoding is not valid. */
function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = (event.target as Element | null)?.closest('a')
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
  // The server handles these paths.
  if (link.pathname.startsWith('/api/') || link.pathname === '/docs') return
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return
  event.preventDefault()
  go(link.pathname + link.search + link.hash)
}

/** Starts the router. It must be called only once. */
export function startRouter(): void {
  addEventListener('popstate', read)
  document.addEventListener('click', onClick)
}
