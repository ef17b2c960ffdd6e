// Parses pasted email addresses: one per line, separated by commas, or from the "To" field of an email.
export type Parsed = { valid: string[]; invalid: string[] }

const address = /^[^\s@<>"(),;:\\]+@[^\s@<>"(),;:\\.]+(\.[^\s@<>"(),;:\\.]+)+$/
const longest = 254

/** Returns the distinct addresses in a text, and the pieces that are not addresses. */
export function parseAddresses(text: string): Parsed {
  const valid = new Map<string, string>()
  const invalid: string[] = []
  for (const piece of pieces(text)) {
    const found = /<([^<>]*)>\s*$/.exec(piece)
    const bare = (found?.[1] ?? piece)
      .trim()
      .replace(/^mailto:/i, '')
      .replace(/^['"]+|['".]+$/g, '')
    if (address.test(bare) && bare.length <= longest) valid.set(bare.toLowerCase(), bare.toLowerCase())
    else if (piece.includes('<') || !piece.includes('@')) invalid.push(piece)
    else {
      // "Ada Lovelace ada@example.com": use the words that are addresses.
      const words = piece.split(/\s+/).map((w) => w.replace(/^[<('"]+|[>)'".]+$/g, ''))
      const good = words.filter((w) => address.test(w) && w.length <= longest)
      for (const w of good) valid.set(w.toLowerCase(), w.toLowerCase())
      if (good.length === 0 || words.some((w) => w.includes('@') && !good.includes(w))) invalid.push(piece)
    }
  }
  return { valid: [...valid.values()], invalid: [...new Set(invalid)] }
}

/** Splits a text at commas, semicolons, tabs and line ends, but not inside quotes. */
function pieces(text: string): string[] {
  const found: string[] = []
  for (const line of text.split(/\r?\n/)) {
    const quoted = (line.match(/"/g)?.length ?? 0) % 2 === 0 ? /("[^"]*"|[^,;\t"])+/g : /[^,;\t]+/g
    for (const piece of line.match(quoted) ?? []) if (/[^\s"'.<>]/.test(piece)) found.push(piece.trim())
  }
  return found
}
