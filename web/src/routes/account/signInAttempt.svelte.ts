// A sign-in attempt: the available methods and the state of the request.
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

  /** Signs in with a password. Reports whether the sign-in succeeded. */
  withPassword(email: string, password: string): Promise<boolean> {
    return this.#start(() => data(app.POST('/sign-in', { body: { email, password } })))
  }

  /** Signs in with a passkey. Reports whether the sign-in succeeded. */
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
