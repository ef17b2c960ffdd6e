import { connection } from '../api/connection.svelte'
import { unavailable } from '../api/send'

const retryDelay = 500
/** The delays while the server is unavailable, in milliseconds. */
const retryDelays = [1000, 2000, 4000, 8000, 15_000]
/** The number of attempts while the server is available. */
const maxAttempts = 3

/** Thrown if only a reload can help: Cardwall was updated, or the browser repeats a cached failure. */
export class NeedsReload extends Error {
  constructor(readonly updated: boolean) {
    super('Reload the page.')
  }

  /** The reason as a sentence. */
  get explanation(): string {
    return this.updated ? 'Cardwall was updated since you opened this page.' : 'Part of the page could not be loaded.'
  }
}

/** Returns the path of the entry script, which identifies the version. */
function entryPath(): string {
  const script = document.querySelector<HTMLScriptElement>('script[type=module][src]')
  return script ? new URL(script.src).pathname : ''
}

/** Checks whether the server is unavailable or serves another version. */
async function checkVersion(): Promise<'away' | 'updated' | 'same'> {
  try {
    const response = await fetch('/', { cache: 'no-store' })
    if (unavailable.includes(response.status)) return 'away'
    return (await response.text()).includes(entryPath()) ? 'same' : 'updated'
  } catch {
    return 'away'
  }
}

/**
 * Loads a code chunk. It waits while the server is unavailable, and throws
 * NeedsReload if only a reload of the page can help.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  let stopWaiting: (() => void) | undefined
  let failures = 0
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
        await connection.pause(retryDelay, false)
        continue
      }
      const version = await checkVersion()
      if (version === 'updated') throw new NeedsReload(true)
      if (version === 'same' && ++failures >= maxAttempts) throw new NeedsReload(false)
      if (version === 'away') stopWaiting ??= connection.wait()
      const away = version === 'away'
      await connection.pause(away ? retryDelays[Math.min(n - 1, retryDelays.length - 1)]! : retryDelay, away)
    }
  } finally {
    stopWaiting?.()
  }
}

const reloadedKey = 'cardwall-reloaded'

/** Reloads the page once per version, unless there are unsent changes. */
export function reloadOnce(): void {
  if (sessionStorage.getItem(reloadedKey) === entryPath()) return
  if (!dispatchEvent(new Event('beforeunload', { cancelable: true }))) return
  sessionStorage.setItem(reloadedKey, entryPath())
  location.reload()
}
