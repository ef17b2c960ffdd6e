import { signOut } from '../../state/session.svelte'
import { wasSignedIn } from '../account/nextPage'

/** Signs out at the user's request. The sign-in page then does not say that the session has ended. */
export async function signOutAndForget(): Promise<void> {
  wasSignedIn.clear()
  try {
    await signOut()
  } catch (thrown) {
    wasSignedIn.set()
    throw thrown
  }
}
