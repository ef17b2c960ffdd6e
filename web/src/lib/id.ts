/** Returns a random ID of 128 bits, for an Idempotency-Key or the client ID of this tab. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
}

let count = 0

/** Returns a temporary ID for a record that is not saved yet. */
export function temporaryId(): string {
  return `new_${++count}`
}

export function isTemporary(id: string): boolean {
  return id.startsWith('new_')
}
