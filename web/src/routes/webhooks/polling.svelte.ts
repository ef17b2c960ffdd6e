// Pages about deliveries poll for changes. A request costs the server less than a
// stream and works on every node.
import { untrack } from 'svelte'
import type { Remote } from '../../page/remote.svelte'

/** Reloads periodically while the page is visible. `pause` returns the next delay in ms. */
export function refresh(from: Pick<Remote<unknown>, 'loading' | 'reload'>, pause: () => number): void {
  $effect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let over = false
    const next = () => {
      if (!over) timer = setTimeout(() => void reload(), untrack(pause))
    }
    const reload = async () => {
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

/** Returns the current time, updated every second. */
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
