// Splits an indented JSON text into pieces for syntax highlighting.
export type Piece = { text: string; as: 'name' | 'text' | 'number' | 'word' | 'sign' }

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b|([^"\d\w-]+)/g

/** Returns the pieces of a JSON text, or the text unchanged if it is not JSON. */
export function pieces(body: string): Piece[] {
  let text: string
  try {
    text = JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return [{ text: body, as: 'sign' }]
  }
  const out: Piece[] = []
  for (const [all, string, colon, number, word] of text.matchAll(token)) {
    if (string !== undefined) {
      out.push({ text: string, as: colon === undefined ? 'text' : 'name' })
      if (colon !== undefined) out.push({ text: colon, as: 'sign' })
    } else out.push({ text: all, as: number !== undefined ? 'number' : word !== undefined ? 'word' : 'sign' })
  }
  return out
}
