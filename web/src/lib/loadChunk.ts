import { connection } from '../api/connection.svelte'
import { unavailable } from '../api/send'

const pause = 500
/** The delays while the server is unavailable, in milliseconds. */
const pauses = [1000, 2000, 4000, 8000, 15_000]
/** The number of attempts while the server is available. */
const maxAttempts = 3

/** Thrown if only a reload can help: Cardwall was updated, or the browser repeats a cached failure. */
export class NeedsReload extends Error {
  constructor(readonly updated: boolean) {
    super('Reload the page.')
  }

  /** The reason as a sentence. */
  get why(): string {
    return this.updated ? 'Cardwall was updated since you opened this page.' : 'Part of the page could not be loaded.'
  }
}

/** Returns the path of the entry script, which identifies the version. */
function entry(): string {
  const script = document.querySelector<HTMLScriptElement>('script[type=module][src]')
  return script ? new URL(script.src).pathname : ''
}

/** Checks whether the server is unavailable or serves another version. */
async function checkVersion(): Promise<'away' | 'updated' | 'same'> {
  try {
    const response = await fetch('/', { cache: 'no-store' })
    if (unavailable.includes(response.status)) return 'away'
    return (await response.text()).includes(entry()) ? 'same' : 'updated'
  } catch {
    return 'away'
  }
}

/**
 * Loads a code chunk. It waits while the server is unavailable, and throws
 * NeedsReload if only a reload of the page can help.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  let waiting: (() => void) | undefined
  let missed = 0
  try {
    for (let n = 0; ; n++) {
      try {
        return await load()
      } catch {
        // The loader requests each style sheet only once, so retry failed ones here.
        for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')) {
          if (!link.sheet) link.replaceWith(link.cloneNode())
        }
      }
      if (n === 0) {
        await connection.pause(pause, false)
        continue
      }
      const found = await checkVersion()
      if (found === 'updated') throw new NeedsReload(true)
      if (found === 'same' && ++missed >= maxAttempts) throw new NeedsReload(false)
      if (found === 'away') waiting ??= connection.wait()
      const away = found === 'away'
      await connection.pause(away ? pauses[Math.min(n - 1, pauses.length - 1)]! : pause, away)
    }
  } finally {
    waiting?.()
  }
}

const reloadedKey = 'cardwall-reloaded'

/** Reloads the page once per version, unless there are unsent changes. */
export function reloadOnce(): void {
  if (sessionStorage.getItem(reloadedKey) === entry()) return
  if (!dispatchEvent(new Event('beforeunload', { cancelable: true }))) return
  sessionStorage.setItem(reloadedKey, entry())
  location.reload()
}
