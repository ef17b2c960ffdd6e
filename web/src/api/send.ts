// Sends requests, and sends them again when no server responded: one that stops
// or was killed leaves its work to another, which the next attempt reaches. A
// change goes with the same Idempotency-Key each time, so it is done once.
import { reach } from './reach.svelte'

/** The pauses before the second, third and fourth attempt, in milliseconds. */
export const pauses = [150, 500, 1500]

/** The pauses of a read while there is no server. */
const longer = [3000, 6000, 12_000, 15_000]

/** What a proxy responds when no server did, and a server that cannot do it just now. */
export const absent = [502, 503, 504]

type SignIn = () => Promise<boolean>
let signIn: SignIn = async () => false

/** Says what happens when the server does not know who asks; the promise says whether to send it again. */
export function onUnknown(then: SignIn): void {
  signIn = then
}

// Whose session it is, is what the sign-in itself asks.
const asks = /\/api\/app\/v1\/(session|sign-in|passkeys\/sign-in)/

/**
 * Fetches. A change throws, or returns what the proxy responded, when there is
 * no server for two seconds; a read waits for the server to come back. A
 * request that came after the end of the session waits for the next sign-in.
 */
export async function send(request: Request): Promise<Response> {
  const read = request.method === 'GET'
  let waiting: (() => void) | undefined
  try {
    for (let n = 0; ; n++) {
      const last = n >= pauses.length
      try {
        const answer = await fetch(request.clone())
        if (!absent.includes(answer.status)) {
          reach.heard()
          if (answer.status === 401 && !asks.test(request.url) && (await signIn())) {
            void answer.body?.cancel() // its connection is free again
            n = -1
            continue
          }
          return answer
        }
        if (last && !read) return answer
        void answer.body?.cancel()
      } catch (thrown) {
        // Whoever went away wants no response. Without a network a change waits for its page to send it again.
        if (request.signal.aborted || (!read && (last || !navigator.onLine))) throw thrown
      }
      const long = last || !navigator.onLine
      if (long) waiting ??= reach.wait()
      const pause = long ? longer[Math.min(Math.max(n - pauses.length, 0), longer.length - 1)]! : pauses[n]!
      await reach.pause(pause * (0.7 + Math.random() * 0.6), long)
    }
  } finally {
    waiting?.()
  }
}
