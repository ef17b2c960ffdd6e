// Formats JSON and splits it into tokens for syntax highlighting.
export type Token = { text: string; type: 'name' | 'text' | 'number' | 'keyword' | 'punctuation' }

const tokenPattern = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b|([^"\d\w-]+)/g

/** Indents JSON and returns its tokens. If the body is not JSON, returns it as one token. */
export function tokenize(body: string): Token[] {
  let text: string
  try {
    text = JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return [{ text: body, type: 'punctuation' }]
  }
  const tokens: Token[] = []
  for (const [all, string, colon, number, word] of text.matchAll(tokenPattern)) {
    if (string !== undefined) {
      tokens.push({ text: string, type: colon === undefined ? 'text' : 'name' })
      if (colon !== undefined) tokens.push({ text: colon, type: 'punctuation' })
    } else
      tokens.push({ text: all, type: number !== undefined ? 'number' : word !== undefined ? 'keyword' : 'punctuation' })
  }
  return tokens
}
