// Pages about deliveries are live by asking again: an answer of the log costs
// the server less than a stream, and holds on every node.
import { untrack } from 'svelte'
import type { Remote } from '../profile/remote.svelte'

/** Reloads, as long as the page is looked at, after a pause that may change each time. */
export function refresh(from: Pick<Remote<unknown>, 'loading' | 'reload'>, pause: () => number): void {
  $effect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let over = false
    const next = () => {
      if (!over) timer = setTimeout(() => void again(), untrack(pause))
    }
    const again = async () => {
      if (document.visibilityState === 'visible' && !from.loading) await from.reload()
      next()
    }
    next()
    return () => {
      over = true
      clearTimeout(timer)
    }
  })
}

/** The time, told anew every second. */
export function clock(): { readonly now: number } {
  let now = $state(Date.now())
  $effect(() => {
    const timer = setInterval(() => (now = Date.now()), 1000)
    return () => clearInterval(timer)
  })
  return {
    get now() {
      return now
    },
  }
}
