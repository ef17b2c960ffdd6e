// The browser's side of passkeys (Web Authentication, level 3).
type FromJSON = {
  parseCreationOptionsFromJSON?: (options: unknown) => PublicKeyCredentialCreationOptions
  parseRequestOptionsFromJSON?: (options: unknown) => PublicKeyCredentialRequestOptions
}

const parser = (): FromJSON | null =>
  typeof PublicKeyCredential === 'function' ? (PublicKeyCredential as unknown as FromJSON) : null

/** Whether this browser can make passkeys and use them as the server says them. */
export function passkeysHere(): boolean {
  return !!parser()?.parseCreationOptionsFromJSON && !!parser()?.parseRequestOptionsFromJSON
}

export async function makePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = parser()?.parseCreationOptionsFromJSON?.(options)
  return told(await navigator.credentials.create({ publicKey }))
}

export async function usePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = parser()?.parseRequestOptionsFromJSON?.(options)
  return told(await navigator.credentials.get({ publicKey }))
}

function told(credential: Credential | null): Record<string, unknown> {
  if (!credential) throw new Error('The device answered nothing. Try again.')
  return (credential as PublicKeyCredential).toJSON() as unknown as Record<string, unknown>
}

/** What a failed ceremony means; null when the person called it off. */
export function passkeyProblem(thrown: unknown): string | null {
  if (!(thrown instanceof DOMException)) return thrown instanceof Error ? thrown.message : 'The passkey did not work.'
  switch (thrown.name) {
    case 'NotAllowedError':
    case 'AbortError':
      return null
    case 'InvalidStateError':
      return 'This device holds a passkey of your account already.'
    case 'SecurityError':
      return 'Passkeys do not work at this address: the server must be reached by its name, over https.'
    case 'NotSupportedError':
      return 'This device cannot make a passkey that the server takes.'
  }
  return thrown.message
}
