// Polling for the webhook and plan pages. A request costs the server less than a stream,
// and any node can serve a request.
import { untrack } from 'svelte'
import type { Remote } from '../../page/remote.svelte'

/** Reloads data periodically while the page is visible. `delay` returns the next delay in ms. */
export function poll(from: Pick<Remote<unknown>, 'loading' | 'reload'>, delay: () => number): void {
  $effect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let stopped = false
    const schedule = () => {
      if (!stopped) timer = setTimeout(() => void reload(), untrack(delay))
    }
    const reload = async () => {
      if (document.visibilityState === 'visible' && !from.loading) await from.reload()
      schedule()
    }
    schedule()
    return () => {
      stopped = true
      clearTimeout(timer)
    }
  })
}

/** Returns a reactive clock that is updated every second. */
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
