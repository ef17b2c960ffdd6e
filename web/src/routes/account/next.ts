import { address, go } from '../../lib/router.svelte'

/** Goes where a person wanted to be before they signed in; only inside the application. */
export function goOn(otherwise = '/'): void {
  const next = address.query.get('next') ?? ''
  go(inside(next) ? next : otherwise, { replace: true })
}

const key = 'cardwall-next'
const kept = 3_600_000

/** Keeps where a person wanted to go until the link of a letter is followed in this browser, for an hour. */
export function keepForLater(): void {
  const to = address.query.get('next')
  if (to) localStorage.setItem(key, JSON.stringify({ to, at: Date.now() }))
}

/** Goes where a person wanted to be before the letter. */
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

/** Whether a program waits for the person behind the sign-in. */
export function programWaits(): boolean {
  return (address.query.get('next') ?? '').startsWith('/oauth/')
}

const inside = (to: string): boolean => /^\/(?![/\\])/.test(to)

/** An address of the account pages that keeps where a person wanted to go. */
export function keepNext(path: string): string {
  const next = address.query.get('next')
  return next ? `${path}?next=${encodeURIComponent(next)}` : path
}
