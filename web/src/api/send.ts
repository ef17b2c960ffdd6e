// Sends requests, and retries them if no server responds: when one server stops, the
// next attempt reaches another. All attempts of a change have the same
// Idempotency-Key, so the change is made only once.
import { connection } from './connection.svelte'

/** The delays before the second, third and fourth attempt, in milliseconds. */
export const retryDelays = [150, 500, 1500]

/** The delays between later attempts of a read, in milliseconds. */
const longRetryDelays = [3000, 6000, 12_000, 15_000]

/** The statuses from a proxy that cannot reach a server, and from a server that is temporarily unavailable. */
export const unavailableStatuses = [502, 503, 504]

type UnauthorizedHandler = () => Promise<boolean>
let handleUnauthorized: UnauthorizedHandler = async () => false

/** Handles status 401 of a request that is not sent with send(). Its promise resolves to whether to retry. */
export const signInAgain: UnauthorizedHandler = () => handleUnauthorized()

/** Sets the handler for status 401. Its promise resolves to whether the request should be retried. */
export function onUnauthorized(handler: UnauthorizedHandler): void {
  handleUnauthorized = handler
}

// A 401 in response to these requests is about the sign-in itself, so they are not retried.
const signInPaths = /\/api\/app\/v1\/(session|sign-in|passkeys\/sign-in)/

/**
 * Sends a request. If no server responds for about two seconds, a change throws or
 * returns the proxy's response, while a read waits until a server responds. If the
 * session has ended, requests wait for the next sign-in.
 */
export async function send(request: Request): Promise<Response> {
  const read = request.method === 'GET'
  let stopWaiting: (() => void) | undefined
  try {
    for (let n = 0; ; n++) {
      const lastAttempt = n >= retryDelays.length // of a change
      try {
        const response = await fetch(request.clone())
        if (!unavailableStatuses.includes(response.status)) {
          connection.restored()
          if (response.status === 401 && !signInPaths.test(request.url) && (await handleUnauthorized())) {
            void response.body?.cancel() // frees the connection
            n = -1
            continue
          }
          return response
        }
        if (lastAttempt && !read) return response
        void response.body?.cancel()
      } catch (thrown) {
        // While the browser is offline, changes are not retried here, because the operation queue retries them.
        if (request.signal.aborted || (!read && (lastAttempt || !navigator.onLine))) throw thrown
      }
      const longPause = lastAttempt || !navigator.onLine
      if (longPause) stopWaiting ??= connection.wait()
      const delay = longPause
        ? longRetryDelays[Math.min(Math.max(n - retryDelays.length, 0), longRetryDelays.length - 1)]!
        : retryDelays[n]!
      await connection.pause(delay * (0.7 + Math.random() * 0.6), longPause)
    }
  } finally {
    stopWaiting?.()
  }
}
