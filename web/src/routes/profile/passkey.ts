// Passkeys in the browser (Web Authentication, level 3).
type FromJSON = {
  parseCreationOptionsFromJSON?: (options: unknown) => PublicKeyCredentialCreationOptions
  parseRequestOptionsFromJSON?: (options: unknown) => PublicKeyCredentialRequestOptions
}

const parser = (): FromJSON | null =>
  typeof PublicKeyCredential === 'function' ? (PublicKeyCredential as unknown as FromJSON) : null

/** Reports whether this browser can parse passkey options from JSON. */
export function passkeysSupported(): boolean {
  return !!parser()?.parseCreationOptionsFromJSON && !!parser()?.parseRequestOptionsFromJSON
}

export async function makePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = parser()?.parseCreationOptionsFromJSON?.(options)
  return credentialJSON(await navigator.credentials.create({ publicKey }))
}

export async function usePasskey(options: unknown): Promise<Record<string, unknown>> {
  const publicKey = parser()?.parseRequestOptionsFromJSON?.(options)
  return credentialJSON(await navigator.credentials.get({ publicKey }))
}

function credentialJSON(credential: Credential | null): Record<string, unknown> {
  if (!credential) throw new Error('Your device did not respond. Try again.')
  return (credential as PublicKeyCredential).toJSON() as unknown as Record<string, unknown>
}

/** Returns a message for a failed passkey request, or null if the person canceled it. */
export function passkeyProblem(thrown: unknown): string | null {
  if (!(thrown instanceof DOMException)) return thrown instanceof Error ? thrown.message : 'The passkey did not work.'
  switch (thrown.name) {
    case 'NotAllowedError':
    case 'AbortError':
      return null
    case 'InvalidStateError':
      return 'This device already has a passkey for your account.'
    case 'SecurityError':
      return 'Passkeys do not work at this address. The server needs a domain name and HTTPS.'
    case 'NotSupportedError':
      return 'This device can’t create a passkey that the server supports.'
  }
  return thrown.message
}
