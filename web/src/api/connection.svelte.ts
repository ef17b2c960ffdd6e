// The state of the connection to the server. Waiting requests retry as soon as the connection is restored.

/** The number of requests that are waiting for the connection. */
let waiting = $state(0)
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
  /** Why requests are waiting, as a sentence, or null if none are waiting. */
  get problem(): string | null {
    return waiting === 0 ? null : this.reason
  },
  get reason(): string {
    return online ? 'Can’t reach the server.' : 'You are offline.'
  },
  /** Registers a waiting request. The returned function unregisters it. */
  wait(): () => void {
    waiting++
    return () => waiting--
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
