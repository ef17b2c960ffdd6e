/** Returns a random 128-bit ID. It serves as an idempotency key or as the ID of a tab. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
}

let count = 0

/** Returns a temporary ID for a record that the server has not created yet. */
export function temporaryId(): string {
  return `new_${++count}`
}

export function isTemporary(id: string): boolean {
  return id.startsWith('new_')
}
