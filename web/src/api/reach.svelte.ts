// Whether the server can be reached: pages say so, and try again as soon as it can.

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

export const reach = {
  /** Why something waits, in words; null while nothing does. */
  get problem(): string | null {
    return waiting === 0 ? null : this.reason
  },
  get reason(): string {
    return online ? 'The server cannot be reached.' : 'You are offline.'
  },
  /** Counts one more that waits for the server, until the result is called. */
  wait(): () => void {
    waiting++
    return () => waiting--
  },
  /** The server responded: everything that waits tries again. */
  heard(): void {
    if (wake.length > 0) wakeAll()
  },
  /** Waits for some time; a long pause ends when the server was heard, or the network is back. */
  pause(ms: number, long = true): Promise<void> {
    return new Promise((over) => {
      const timer = setTimeout(over, ms)
      if (!long) return
      wake.push(() => {
        clearTimeout(timer)
        over()
      })
    })
  },
}
