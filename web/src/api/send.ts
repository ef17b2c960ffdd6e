// Sends requests and retries them if no server responded: after a server stops,
// the next attempt reaches another one. All attempts of a change have the same
// Idempotency-Key, so it happens once.
import { connection } from './connection.svelte'

/** The delays before the second, third and fourth attempt, in milliseconds. */
export const retryDelays = [150, 500, 1500]

/** The delays between later attempts of a read, in milliseconds. */
const longRetryDelays = [3000, 6000, 12_000, 15_000]

/** Statuses of a proxy without a server, and of a server that is temporarily unavailable. */
export const unavailable = [502, 503, 504]

type SignIn = () => Promise<boolean>
let signIn: SignIn = async () => false

/** Sets the handler for status 401. Its promise reports whether to retry the request. */
export function onUnauthorized(then: SignIn): void {
  signIn = then
}

// The sign-in's own requests are not retried after a 401.
const signInPaths = /\/api\/app\/v1\/(session|sign-in|passkeys\/sign-in)/

/**
 * Fetches a request. If no server responds for two seconds, a change throws or
 * returns the proxy's response, and a read waits until a server responds. After
 * the session has ended, requests wait for the next sign-in.
 */
export async function send(request: Request): Promise<Response> {
  const read = request.method === 'GET'
  let stopWaiting: (() => void) | undefined
  try {
    for (let n = 0; ; n++) {
      const last = n >= retryDelays.length
      try {
        const response = await fetch(request.clone())
        if (!unavailable.includes(response.status)) {
          connection.restored()
          if (response.status === 401 && !signInPaths.test(request.url) && (await signIn())) {
            void response.body?.cancel() // frees the connection
            n = -1
            continue
          }
          return response
        }
        if (last && !read) return response
        void response.body?.cancel()
      } catch (thrown) {
        // The caller no longer needs an aborted request. While the browser is offline, the page retries its changes.
        if (request.signal.aborted || (!read && (last || !navigator.onLine))) throw thrown
      }
      const long = last || !navigator.onLine
      if (long) stopWaiting ??= connection.wait()
      const delay = long
        ? longRetryDelays[Math.min(Math.max(n - retryDelays.length, 0), longRetryDelays.length - 1)]!
        : retryDelays[n]!
      await connection.pause(delay * (0.7 + Math.random() * 0.6), long)
    }
  } finally {
    stopWaiting?.()
  }
}
