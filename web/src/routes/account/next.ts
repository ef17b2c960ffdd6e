import { address, go } from '../../lib/router.svelte'

/** Goes where a person wanted to be before they signed in; only inside the application. */
export function goOn(otherwise = '/'): void {
  const next = address.query.get('next') ?? ''
  go(/^\/(?![/\\])/.test(next) ? next : otherwise, { replace: true })
}

/** An address of the account pages that keeps where a person wanted to go. */
export function keepNext(path: string): string {
  const next = address.query.get('next')
  return next ? `${path}?next=${encodeURIComponent(next)}` : path
}
