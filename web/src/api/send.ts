// Sends requests, and again when no server answered: one that stops or was
// killed leaves its work to another, which the next attempt reaches. A change
// goes with the same Idempotency-Key each time, so it is done once.

/** The pauses before the second, third and fourth attempt, in milliseconds. */
export const pauses = [150, 500, 1500]

/** What a proxy answers when no server did, and a server that cannot do it just now. */
export const absent = [502, 503, 504]

/** Fetches; throws, or answers that nobody is there, when that is so for two seconds. */
export async function send(request: Request): Promise<Response> {
  for (const pause of pauses) {
    try {
      const answer = await fetch(request.clone())
      if (!absent.includes(answer.status)) return answer
    } catch (thrown) {
      // Who went away wants no answer, and without a network there is none.
      if (request.signal.aborted || !navigator.onLine) throw thrown
    }
    await new Promise((over) => setTimeout(over, pause * (0.7 + Math.random())))
  }
  return fetch(request)
}
