// Detects the format of an import file from its beginning.
export type Kind = 'trello' | 'cardwall'
export type Detected = { kind: Kind } | { problem: string }

/** The maximum file size in bytes that the server accepts. */
export const maxFileSize = 100 * 1024 * 1024
/** The number of bytes that are read to detect the format. */
const headSize = 256 * 1024

/** Detects the format of a file, or returns the problem with it. */
export async function detectFile(file: Blob & { name?: string }): Promise<Detected> {
  if (file.size === 0) return { problem: 'The file is empty.' }
  if (file.size > maxFileSize) {
    const command = 'An operator can import it on the server, with the command cardwall import.'
    return { problem: `The file is larger than ${sizeText(maxFileSize)}. ${command}` }
  }
  return detectText(await file.slice(0, headSize).text(), file.size <= headSize)
}

/** Detects the format from the beginning of a file. `complete` reports whether `head` is the entire file. */
export function detectText(head: string, complete: boolean): Detected {
  const text = head.replace(/^\uFEFF/, '').trimStart()
  if (text.startsWith('PK')) return { problem: 'This is a ZIP file. Extract it and choose the JSON file inside.' }
  if (!text.startsWith('{')) {
    return {
      problem: /^[^\n]*,[^\n]*\n/.test(text)
        ? 'This looks like a CSV file. In Trello, choose “Export as JSON” instead.'
        : 'This is not a JSON file. Choose a file that was exported from Trello or Cardwall.',
    }
  }
  if (/^\{\s*"format"\s*:\s*"cardwall-(workspace-)?export\//.test(text)) return { kind: 'cardwall' }
  if (complete) {
    let parsed: Record<string, unknown>
    try {
      parsed = JSON.parse(text) as Record<string, unknown>
    } catch {
      return { problem: 'The file is incomplete or is not valid JSON. Export it again.' }
    }
    if (typeof parsed.format === 'string' && parsed.format.startsWith('cardwall-')) return { kind: 'cardwall' }
    if (Array.isArray(parsed.lists) && Array.isArray(parsed.cards)) return { kind: 'trello' }
    return { problem: 'This is neither a Trello board export nor a Cardwall export.' }
  }
  const trelloFields = [
    'idOrganization',
    'idBoard',
    'shortLink',
    'shortUrl',
    'dateLastActivity',
    'labelNames',
    'idMemberCreator',
  ]
  const matches = trelloFields.filter((m) => text.includes(`"${m}"`)).length
  if (matches >= 2 || text.includes('trello.com')) return { kind: 'trello' }
  return { problem: 'This is neither a Trello board export nor a Cardwall export.' }
}

/** Formats a size: "12 bytes", "2 kB", "1.5 MB". */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} kB`
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`
}
