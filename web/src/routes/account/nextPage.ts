import { address, go } from '../../lib/router.svelte'

/** Goes to the `next` address of the query if it is inside the application. */
export function goToNext(otherwise = '/'): void {
  const next = address.query.get('next') ?? ''
  go(inside(next) ? next : otherwise, { replace: true })
}

const key = 'cardwall-next'
const lifetime = 3_600_000

/** Stores the `next` address for an hour, for when a link from an email is opened in this browser. */
export function storeNext(): void {
  const to = address.query.get('next')
  if (to) localStorage.setItem(key, JSON.stringify({ to, at: Date.now() }))
}

/** Goes to the address that storeNext stored. */
export function goToStoredNext(): void {
  const stored = localStorage.getItem(key)
  localStorage.removeItem(key)
  let later: { to?: unknown; at?: unknown } = {}
  try {
    later = JSON.parse(stored ?? '{}') as typeof later
  } catch {
    // not written by storeNext
  }
  const fresh = typeof later.at === 'number' && Date.now() - later.at < lifetime
  go(fresh && typeof later.to === 'string' && inside(later.to) ? later.to : '/', { replace: true })
}

const wasKey = 'cardwall-was-in'

/** Whether someone was signed in with this browser and did not sign out. */
export const wasSignedIn = {
  get: () => localStorage.getItem(wasKey) !== null,
  set: () => localStorage.setItem(wasKey, 'yes'),
  clear: () => localStorage.removeItem(wasKey),
}

/** Returns why the sign-in page is shown to a person who opened another page. */
export function signInReason(): string | undefined {
  if (appWaits()) return 'Next, you choose what the app that sent you here may do.'
  const next = address.query.get('next') ?? '/'
  if (next === '/' || !inside(next)) return undefined
  return wasSignedIn.get() ? 'You were signed out. Sign in to continue.' : 'Sign in to continue.'
}

/** Reports whether an app waits for authorization after the sign-in. */
export function appWaits(): boolean {
  return (address.query.get('next') ?? '').startsWith('/oauth/')
}

// Browsers drop tabs and line ends from an address, so "/\t/host" would be another host.
export const inside = (to: string): boolean => /^\/(?![/\\])[^\t\r\n\\]*$/.test(to)

/** Returns the address of an account page with the `next` address kept. */
export function withNext(path: string): string {
  const next = address.query.get('next')
  return next ? `${path}?next=${encodeURIComponent(next)}` : path
}
