import { reach } from '../api/reach.svelte'
import { absent } from '../api/send'

const pause = 500
/** The pauses while there is no server, in milliseconds. */
const pauses = [1000, 2000, 4000, 8000, 15_000]
/** How often a part is asked for from a server that has it. */
const tries = 3

/** This page cannot load a part: the program was updated, or the browser repeats a failure that it remembers. */
export class NeedsReload extends Error {
  constructor(readonly updated: boolean) {
    super('The page must be loaded again.')
  }

  /** Says why, as a sentence. */
  get why(): string {
    return this.updated ? 'Cardwall was updated since you opened this page.' : 'A part of Cardwall did not load.'
  }
}

/** Returns the script that the page began with, as the document names it. */
function entry(): string {
  const script = document.querySelector<HTMLScriptElement>('script[type=module][src]')
  return script ? new URL(script.src).pathname : ''
}

/** Asks the server for the document: it is away, serves another version of the program, or the same. */
async function look(): Promise<'away' | 'updated' | 'same'> {
  try {
    const answer = await fetch('/', { cache: 'no-store' })
    if (absent.includes(answer.status)) return 'away'
    return (await answer.text()).includes(entry()) ? 'same' : 'updated'
  } catch {
    return 'away'
  }
}

/**
 * Loads a part of the application. While the server is away it waits for it; it
 * throws NeedsReload when only a new load of the page would help.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  let waiting: (() => void) | undefined
  let missed = 0
  try {
    for (let n = 0; ; n++) {
      try {
        return await load()
      } catch {
        // The loader asks for each style sheet once, whatever came of it.
        for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')) {
          if (!link.sheet) link.replaceWith(link.cloneNode())
        }
      }
      if (n === 0) {
        await reach.pause(pause, false)
        continue
      }
      const found = await look()
      if (found === 'updated') throw new NeedsReload(true)
      if (found === 'same' && ++missed >= tries) throw new NeedsReload(false)
      if (found === 'away') waiting ??= reach.wait()
      const away = found === 'away'
      await reach.pause(away ? pauses[Math.min(n - 1, pauses.length - 1)]! : pause, away)
    }
  } finally {
    waiting?.()
  }
}

const reloadedKey = 'cardwall-reloaded'

/** Loads the page again, once for a version of the program, unless something waits to be sent. */
export function reloadOnce(): void {
  if (sessionStorage.getItem(reloadedKey) === entry()) return
  if (!dispatchEvent(new Event('beforeunload', { cancelable: true }))) return
  sessionStorage.setItem(reloadedKey, entry())
  location.reload()
}
