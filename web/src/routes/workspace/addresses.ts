// Parses pasted email addresses: one per line, comma-separated, or from the "To" field of an email.
export type Parsed = { valid: string[]; invalid: string[] }

const address = /^[^\s@<>"(),;:\\]+@[^\s@<>"(),;:\\.]+(\.[^\s@<>"(),;:\\.]+)+$/
/** The maximum length of an email address in SMTP (RFC 5321). */
const maxLength = 254

/** Returns the distinct addresses in the text, and the entries that are not addresses. */
export function parseAddresses(text: string): Parsed {
  const valid = new Map<string, string>()
  const invalid: string[] = []
  for (const piece of splitEntries(text)) {
    const bracketed = /<([^<>]*)>\s*$/.exec(piece)
    const bare = (bracketed?.[1] ?? piece)
      .trim()
      .replace(/^mailto:/i, '')
      .replace(/^['"]+|['".]+$/g, '')
    if (address.test(bare) && bare.length <= maxLength) valid.set(bare.toLowerCase(), bare.toLowerCase())
    else if (piece.includes('<') || !piece.includes('@')) invalid.push(piece)
    else {
      // "Ada Lovelace ada@example.com": use the words that are addresses.
      const words = piece.split(/\s+/).map((w) => w.replace(/^[<('"]+|[>)'".]+$/g, ''))
      const validWords = words.filter((w) => address.test(w) && w.length <= maxLength)
      for (const w of validWords) valid.set(w.toLowerCase(), w.toLowerCase())
      if (validWords.length === 0 || words.some((w) => w.includes('@') && !validWords.includes(w))) invalid.push(piece)
    }
  }
  return { valid: [...valid.values()], invalid: [...new Set(invalid)] }
}

/** Splits the text at commas, semicolons, tabs and line breaks, but not inside quotes. */
function splitEntries(text: string): string[] {
  const entries: string[] = []
  for (const line of text.split(/\r?\n/)) {
    const entry = (line.match(/"/g)?.length ?? 0) % 2 === 0 ? /("[^"]*"|[^,;\t"])+/g : /[^,;\t]+/g
    for (const piece of line.match(entry) ?? []) if (/[^\s"'.<>]/.test(piece)) entries.push(piece.trim())
  }
  return entries
}
