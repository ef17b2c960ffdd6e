// Detects the format of an import file from its beginning.
export type Kind = 'trello' | 'cardwall'
export type Detected = { kind: Kind } | { problem: string }

/** The maximum size that the server accepts. */
export const maxFileSize = 100 * 1024 * 1024
const headSize = 256 * 1024

export async function detectFile(file: Blob & { name?: string }): Promise<Detected> {
  if (file.size === 0) return { problem: 'The file is empty.' }
  if (file.size > maxFileSize) return { problem: `The file is larger than ${sizeText(maxFileSize)}.` }
  return detectText(await file.slice(0, headSize).text(), file.size <= headSize)
}

/** Detects the format of a text. whole reports whether it is the whole file. */
export function detectText(head: string, whole: boolean): Detected {
  const text = head.replace(/^\uFEFF/, '').trimStart()
  if (text.startsWith('PK')) return { problem: 'This is a ZIP file. Extract it and choose the JSON file inside.' }
  if (!text.startsWith('{')) {
    return {
      problem: /^[^\n]*,[^\n]*\n/.test(text)
        ? 'This looks like a CSV file. In Trello, choose “Export as JSON” instead.'
        : 'This is not a JSON file. Choose a file that Trello or Cardwall exported.',
    }
  }
  if (/^\{\s*"format"\s*:\s*"cardwall-(workspace-)?export\//.test(text)) return { kind: 'cardwall' }
  if (whole) {
    let parsed: Record<string, unknown>
    try {
      parsed = JSON.parse(text) as Record<string, unknown>
    } catch {
      return { problem: 'The file is incomplete or not JSON. Export it again.' }
    }
    if (typeof parsed.format === 'string' && parsed.format.startsWith('cardwall-')) return { kind: 'cardwall' }
    if (Array.isArray(parsed.lists) && Array.isArray(parsed.cards)) return { kind: 'trello' }
    return { problem: 'This is neither a Trello board export nor a Cardwall export.' }
  }
  const marks = [
    'idOrganization',
    'idBoard',
    'shortLink',
    'shortUrl',
    'dateLastActivity',
    'labelNames',
    'idMemberCreator',
  ]
  const seen = marks.filter((m) => text.includes(`"${m}"`)).length
  if (seen >= 2 || text.includes('trello.com')) return { kind: 'trello' }
  return { problem: 'This is neither a Trello board export nor a Cardwall export.' }
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} kB`
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`
}
