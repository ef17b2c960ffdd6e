// Some things need a sign-in of the last ten minutes. Whoever does one does it
// through recently(); ConfirmSignIn.svelte, mounted on the page, asks in between.
import { ApiError } from '../../api/client'

type Question = { answer: (confirmed: boolean) => void }

const state = $state<{ question: Question | null }>({ question: null })

/** The person did not want to sign in again; nothing was done. */
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

/** Does something; when the server wants a recent sign-in, asks for one and does it again. */
export async function recently<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || !thrown.wantsRecentSignIn) throw thrown
  }
  confirming.answer(false)
  const confirmed = await new Promise<boolean>((answer) => {
    state.question = { answer }
  })
  if (!confirmed) throw new NotConfirmed('Nothing was changed: the sign-in was not confirmed.')
  return act()
}
