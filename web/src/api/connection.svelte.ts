// The state of the connection to the server. Waiting requests retry as soon as the connection is restored.

/** The numbers of requests, and of closed pages with unsent changes, that are waiting for the connection. */
const waiting = $state({ request: 0, change: 0 })
let online = $state(navigator.onLine)
/** The functions that end the long pauses in progress. */
let endPauses: (() => void)[] = []

function wakeAll(): void {
  const callbacks = endPauses
  endPauses = []
  for (const endPause of callbacks) endPause()
}

addEventListener('online', () => {
  online = true
  wakeAll()
})
addEventListener('offline', () => (online = false))

export const connection = {
  /** Why requests or changes are waiting, as a sentence, or null if none are waiting. */
  get problem(): string | null {
    return waiting.request + waiting.change === 0 ? null : this.reason
  },
  /** Whether changes are waiting although their page is closed. */
  get unsent(): boolean {
    return waiting.change > 0
  },
  get reason(): string {
    return online ? 'Can’t reach the server.' : 'You are offline.'
  },
  /** Registers a waiting request, or a closed page with unsent changes. The returned function unregisters it. */
  wait(what: keyof typeof waiting = 'request'): () => void {
    waiting[what]++
    return () => waiting[what]--
  },
  /** Called when the server responds. Makes all waiting requests retry. */
  restored(): void {
    if (endPauses.length > 0) wakeAll()
  },
  /** Waits for `ms` milliseconds. A long pause ends early when the server responds or the browser is online again. */
  pause(ms: number, long = true): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      if (!long) return
      endPauses.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  },
}
