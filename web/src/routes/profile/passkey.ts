// Passkeys in the browser (Web Authentication, Level 3).
/** The static methods of PublicKeyCredential that parse options. Older browsers lack them. */
type OptionsParser = {
  parseCreationOptionsFromJSON?: (options: unknown) => PublicKeyCredentialCreationOptions
  parseRequestOptionsFromJSON?: (options: unknown) => PublicKeyCredentialRequestOptions
}

const parser = (): OptionsParser | null =>
  typeof PublicKeyCredential === 'function' ? (PublicKeyCredential as unknown as OptionsParser) : null

/** Reports whether this browser can parse passkey options from JSON. */
export function passkeysSupported(): boolean {
  return !!parser()?.parseCreationOptionsFromJSON && !!parser()?.parseRequestOptionsFromJSON
}

/** Creates a passkey and returns the credential as JSON. */
export async function createPasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = parser()?.parseCreationOptionsFromJSON?.(options)
  return credentialJSON(await navigator.credentials.create({ publicKey }))
}

/** Requests a passkey from the device and returns the credential as JSON. */
export async function usePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = parser()?.parseRequestOptionsFromJSON?.(options)
  return credentialJSON(await navigator.credentials.get({ publicKey }))
}

function credentialJSON(credential: Credential | null): Record<string, unknown> {
  if (!credential) throw new Error('Your device didn’t respond. Try again.')
  return (credential as PublicKeyCredential).toJSON() as unknown as Record<string, unknown>
}

/** Returns a message for a failed passkey request, or null if the user canceled the request. */
export function passkeyProblem(thrown: unknown): string | null {
  if (!(thrown instanceof DOMException))
    return thrown instanceof Error ? thrown.message : 'The passkey didn’t work. Try again.'
  switch (thrown.name) {
    case 'NotAllowedError':
    case 'AbortError':
      return null
    case 'InvalidStateError':
      return 'This device already has a passkey for your account.'
    case 'SecurityError':
      return 'Passkeys don’t work at this address. The server needs a domain name and HTTPS.'
    case 'NotSupportedError':
      return 'This device can’t create a passkey that the server supports.'
  }
  return thrown.message
}
