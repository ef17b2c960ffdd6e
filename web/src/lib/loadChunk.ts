import { connection } from '../api/connection.svelte'
import { unavailableStatuses } from '../api/send'

/** The delay before the first retry, and before later ones while the server is available, in milliseconds. */
const retryDelay = 500
/** The delays before later retries while the server is unavailable, in milliseconds. */
const retryDelays = [1000, 2000, 4000, 8000, 15_000]
/** The number of retries that may fail while the server is available. Then the page must be reloaded. */
const maxFailures = 3

/** Thrown if the page must be reloaded, because Cardwall was updated or the browser has cached a failure. */
export class NeedsReload extends Error {
  constructor(readonly updated: boolean) {
    super('Reload the page.')
  }

  /** The reason, as a sentence for the user. */
  get explanation(): string {
    return this.updated
      ? 'Cardwall has been updated since you opened this page.'
      : 'Part of this page couldn’t be loaded.'
  }
}

/** Returns the path of the entry script. It differs between versions. */
function entryPath(): string {
  const script = document.querySelector<HTMLScriptElement>('script[type=module][src]')
  return script ? new URL(script.src).pathname : ''
}

/** Checks whether the server is available and serves the same version. */
async function checkVersion(): Promise<'unavailable' | 'updated' | 'same'> {
  try {
    const response = await fetch('/', { cache: 'no-store' })
    if (unavailableStatuses.includes(response.status)) return 'unavailable'
    return (await response.text()).includes(entryPath()) ? 'same' : 'updated'
  } catch {
    return 'unavailable'
  }
}

/**
 * Loads a code chunk. Retries while the server is unavailable. Throws NeedsReload if
 * the page must be reloaded.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  let stopWaiting: (() => void) | undefined
  let failures = 0
  try {
    for (let n = 0; ; n++) {
      try {
        return await load()
      } catch {
        // The module loader requests each style sheet only once, so request failed ones again here.
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
      if (version === 'same' && ++failures >= maxFailures) throw new NeedsReload(false)
      const serverDown = version === 'unavailable'
      if (serverDown) stopWaiting ??= connection.wait()
      const delay = serverDown ? retryDelays[Math.min(n - 1, retryDelays.length - 1)]! : retryDelay
      await connection.pause(delay, serverDown)
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
