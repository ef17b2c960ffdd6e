// The sign-in of a form: the methods that the server offers, and the state of the
// request. Each method reports whether the sign-in succeeded.
import { app, data, reason } from '../../api/client'
import type { Session, SignInOptions } from '../../api/contract'
import { startSession } from '../../state/session.svelte'
import { passkeyProblem, passkeysSupported, usePasskey } from '../profile/passkey'

export class SignInAttempt {
  /** The methods that the server offers, or null until they have loaded. */
  options = $state.raw<SignInOptions | null>(null)
  busy = $state(false)
  problem = $state<string | null>(null)
  readonly passkeys = $derived(!!this.options?.passkeys && passkeysSupported())

  constructor() {
    data(app.GET('/sign-in/options')).then(
      (options) => (this.options = options),
      () => undefined,
    )
  }

  withPassword(email: string, password: string): Promise<boolean> {
    return this.#start(() => data(app.POST('/sign-in', { body: { email, password } })))
  }

  withPasskey(): Promise<boolean> {
    return this.#start(async () => {
      const { challengeId, options } = await data(app.POST('/passkeys/sign-in/begin'))
      const credential = await usePasskey(options)
      return data(app.POST('/passkeys/sign-in/finish', { body: { challengeId, credential } }))
    })
  }

  async #start(request: () => Promise<Session>): Promise<boolean> {
    this.busy = true
    this.problem = null
    try {
      startSession(await request())
      return true
    } catch (thrown) {
      this.problem = thrown instanceof DOMException ? passkeyProblem(thrown) : reason(thrown)
      return false
    } finally {
      this.busy = false
    }
  }
}
