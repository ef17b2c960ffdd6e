import { address, go } from '../../lib/router.svelte'

/** Goes where a person wanted to be before they signed in; only inside the application. */
export function goOn(otherwise = '/'): void {
  const next = address.query.get('next') ?? ''
  go(inside(next) ? next : otherwise, { replace: true })
}

const key = 'cardwall-next'
const kept = 3_600_000

/** Keeps where a person wanted to go until the link of an email is followed in this browser, for an hour. */
export function keepForLater(): void {
  const to = address.query.get('next')
  if (to) localStorage.setItem(key, JSON.stringify({ to, at: Date.now() }))
}

/** Goes where a person wanted to be before the email. */
export function goOnLater(): void {
  const stored = localStorage.getItem(key)
  localStorage.removeItem(key)
  let later: { to?: unknown; at?: unknown } = {}
  try {
    later = JSON.parse(stored ?? '{}') as typeof later
  } catch {
    // not ours
  }
  const fresh = typeof later.at === 'number' && Date.now() - later.at < kept
  go(fresh && typeof later.to === 'string' && inside(later.to) ? later.to : '/', { replace: true })
}

const wasKey = 'cardwall-was-in'

/** Whether somebody was signed in with this browser, and did not sign out themselves. */
export const wasIn = {
  get: () => localStorage.getItem(wasKey) !== null,
  set: () => localStorage.setItem(wasKey, 'yes'),
  clear: () => localStorage.removeItem(wasKey),
}

/** Why a person stands before the sign-in who wanted to be elsewhere. */
export function whySignIn(): string | undefined {
  if (programWaits()) return 'Then you decide what the program may do that sent you here.'
  const next = address.query.get('next') ?? '/'
  if (next === '/' || !inside(next)) return undefined
  return wasIn.get() ? 'You were signed out. Sign in to continue.' : 'Sign in to continue.'
}

/** Whether a program waits for the person behind the sign-in. */
export function programWaits(): boolean {
  return (address.query.get('next') ?? '').startsWith('/oauth/')
}

// Browsers leave tabs and line ends out of an address, so "/\t/host" is another host.
export const inside = (to: string): boolean => /^\/(?![/\\])[^\t\r\n\\]*$/.test(to)

/** An address of the account pages that keeps where a person wanted to go. */
export function keepNext(path: string): string {
  const next = address.query.get('next')
  return next ? `${path}?next=${encodeURIComponent(next)}` : path
}
