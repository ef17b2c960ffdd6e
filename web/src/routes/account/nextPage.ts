import { address, go } from '../../lib/router.svelte'

/** Navigates to the `next` query parameter if it is a path of the application. Otherwise navigates to `fallback`. */
export function goToNext(fallback = '/'): void {
  const next = address.query.get('next') ?? ''
  go(isInternal(next) ? next : fallback, { replace: true })
}

const key = 'cardwall-next'
const lifetime = 3_600_000 // ms

/**
 * Stores the `next` query parameter for an hour. goToStoredNext navigates to it after the
 * user has opened a link from an email in this browser.
 */
export function storeNext(): void {
  const to = address.query.get('next')
  if (to) localStorage.setItem(key, JSON.stringify({ to, at: Date.now() }))
}

/**
 * Navigates to the path that storeNext stored, and removes it. If there is none, or it
 * has expired, navigates to "/".
 */
export function goToStoredNext(): void {
  const stored = localStorage.getItem(key)
  localStorage.removeItem(key)
  let parsed: { to?: unknown; at?: unknown } = {}
  try {
    parsed = JSON.parse(stored ?? '{}') as typeof parsed
  } catch {
    // The value was not written by storeNext.
  }
  const fresh = typeof parsed.at === 'number' && Date.now() - parsed.at < lifetime
  go(fresh && typeof parsed.to === 'string' && isInternal(parsed.to) ? parsed.to : '/', { replace: true })
}

const wasKey = 'cardwall-was-in'

/** Remembers that someone was signed in with this browser and did not sign out. */
export const wasSignedIn = {
  get: () => localStorage.getItem(wasKey) !== null,
  set: () => localStorage.setItem(wasKey, 'yes'),
  clear: () => localStorage.removeItem(wasKey),
}

/**
 * Returns the text below the title of the sign-in page: why it is shown, or what happens
 * next. Returns undefined if the user did not request another page.
 */
export function signInReason(): string | undefined {
  if (isConnectingApp()) return 'Next, you’ll choose what the app can access.'
  const next = address.query.get('next') ?? '/'
  if (next === '/' || !isInternal(next)) return undefined
  return wasSignedIn.get() ? 'You were signed out. Sign in to continue.' : 'Sign in to continue.'
}

/** Reports whether the sign-in is part of connecting an app. */
export function isConnectingApp(): boolean {
  return (address.query.get('next') ?? '').startsWith('/oauth/')
}

/**
 * Reports whether a URL is a path of the application. Browsers remove tabs and line breaks
 * from URLs, so "/\t/host" would lead to another host.
 */
export const isInternal = (to: string): boolean => /^\/(?![/\\])[^\t\r\n\\]*$/.test(to)

/** Returns the URL of an account page with the current `next` query parameter. */
export function withNext(path: string): string {
  const next = address.query.get('next')
  return next ? `${path}?next=${encodeURIComponent(next)}` : path
}
