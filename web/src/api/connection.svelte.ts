// Whether the server can be reached. Waiting requests retry as soon as it can.

let waiting = $state(0)
let online = $state(navigator.onLine)
let wake: (() => void)[] = []

function wakeAll(): void {
  const all = wake
  wake = []
  for (const one of all) one()
}

addEventListener('online', () => {
  online = true
  wakeAll()
})
addEventListener('offline', () => (online = false))

export const connection = {
  /** Why requests are waiting, or null if none are. */
  get problem(): string | null {
    return waiting === 0 ? null : this.reason
  },
  get reason(): string {
    return online ? 'Can’t reach the server.' : 'You are offline.'
  },
  /** Counts a waiting request until the returned function is called. */
  wait(): () => void {
    waiting++
    return () => waiting--
  },
  /** Called when the server responds. All waiting requests retry. */
  restored(): void {
    if (wake.length > 0) wakeAll()
  },
  /** Waits for some time. A long pause ends early when the server responds or the network is back. */
  pause(ms: number, long = true): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      if (!long) return
      wake.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  },
}
