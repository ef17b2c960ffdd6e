// Splits an indented JSON text into pieces for syntax highlighting.
export type Token = { text: string; as: 'name' | 'text' | 'number' | 'keyword' | 'punctuation' }

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b|([^"\d\w-]+)/g

/** Returns the pieces of a JSON text, or the text unchanged if it is not JSON. */
export function tokenize(body: string): Token[] {
  let text: string
  try {
    text = JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return [{ text: body, as: 'punctuation' }]
  }
  const out: Token[] = []
  for (const [all, string, colon, number, word] of text.matchAll(token)) {
    if (string !== undefined) {
      out.push({ text: string, as: colon === undefined ? 'text' : 'name' })
      if (colon !== undefined) out.push({ text: colon, as: 'punctuation' })
    } else out.push({ text: all, as: number !== undefined ? 'number' : word !== undefined ? 'keyword' : 'punctuation' })
  }
  return out
}
