// Some operations require a sign-in within the last ten minutes. Callers run them with
// withRecentSignIn(). ConfirmSignIn.svelte, mounted on the page, then asks for the password or a passkey.
import { ApiError } from '../api/client'

/** Resolves the pending confirmation, or null if there is none. */
let resolvePending = $state.raw<((confirmed: boolean) => void) | null>(null)

/** Thrown when the user cancels the confirmation. Nothing was changed. */
export class NotConfirmed extends Error {}

export const confirmation = {
  get pending(): boolean {
    return resolvePending !== null
  },
  /** Ends the pending confirmation, if there is one. */
  finish(confirmed: boolean): void {
    const resolve = resolvePending
    resolvePending = null
    resolve?.(confirmed)
  },
}

/** Runs an operation. If the server requires a recent sign-in, asks the user to confirm and runs the operation again. */
export async function withRecentSignIn<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || !thrown.requiresRecentSignIn) throw thrown
  }
  confirmation.finish(false)
  const confirmed = await new Promise<boolean>((resolve) => {
    resolvePending = resolve
  })
  if (!confirmed) throw new NotConfirmed('Sign-in not confirmed. Nothing was changed.')
  return operation()
}
