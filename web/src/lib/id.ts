/** A random id of 128 bits, good as an Idempotency-Key or a name of this tab. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
}

let count = 0

/** An id for a record that the server does not know yet. */
export function temporaryId(): string {
  return `new_${++count}`
}

export function isTemporary(id: string): boolean {
  return id.startsWith('new_')
}
