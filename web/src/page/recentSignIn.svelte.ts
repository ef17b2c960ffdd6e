// Some operations need a sign-in within the last ten minutes. Callers run them
// through withRecentSignIn(); ConfirmSignIn.svelte, mounted on the page, asks for it.
import { ApiError } from '../api/client'

type Question = { answer: (confirmed: boolean) => void }

const state = $state<{ question: Question | null }>({ question: null })

/** Thrown when the person cancels the confirmation. Nothing was changed. */
export class NotConfirmed extends Error {}

export const confirming = {
  get question() {
    return state.question
  },
  answer(confirmed: boolean): void {
    const asked = state.question
    state.question = null
    asked?.answer(confirmed)
  },
}

/** Runs an operation. If the server requires a recent sign-in, it asks for one and runs the operation again. */
export async function withRecentSignIn<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || !thrown.wantsRecentSignIn) throw thrown
  }
  confirming.answer(false)
  const confirmed = await new Promise<boolean>((resolve) => {
    state.question = { answer: resolve }
  })
  if (!confirmed) throw new NotConfirmed('Nothing was changed: the sign-in was not confirmed.')
  return operation()
}
