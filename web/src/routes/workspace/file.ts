// What a file is, by looking at its beginning.
export type Kind = 'trello' | 'cardwall'
export type Looked = { kind: Kind } | { problem: string }

/** The most that the server takes. */
export const fileMost = 100 * 1024 * 1024
const headSize = 256 * 1024

export async function lookAt(file: Blob & { name?: string }): Promise<Looked> {
  if (file.size === 0) return { problem: 'The file is empty.' }
  if (file.size > fileMost) return { problem: `The file is larger than ${sizeText(fileMost)}.` }
  return lookAtText(await file.slice(0, headSize).text(), file.size <= headSize)
}

/** Says whose export a text begins; whole tells that it is all of it. */
export function lookAtText(head: string, whole: boolean): Looked {
  const text = head.replace(/^\uFEFF/, '').trimStart()
  if (text.startsWith('PK')) return { problem: 'This is a packed file. Unpack it, and choose the JSON file inside.' }
  if (!text.startsWith('{')) {
    return {
      problem: /^[^\n]*,[^\n]*\n/.test(text)
        ? 'This looks like a table (CSV). Trello has “Export as JSON” in the same menu; choose that.'
        : 'This is not JSON. Choose the file that Trello or Cardwall exported.',
    }
  }
  if (/^\{\s*"format"\s*:\s*"cardwall-(workspace-)?export\//.test(text)) return { kind: 'cardwall' }
  if (whole) {
    let parsed: Record<string, unknown>
    try {
      parsed = JSON.parse(text) as Record<string, unknown>
    } catch {
      return { problem: 'The file is incomplete or is not JSON. Export it again.' }
    }
    if (typeof parsed.format === 'string' && parsed.format.startsWith('cardwall-')) return { kind: 'cardwall' }
    if (Array.isArray(parsed.lists) && Array.isArray(parsed.cards)) return { kind: 'trello' }
    return { problem: 'This is neither an export of a Trello board nor one of Cardwall.' }
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
  return { problem: 'This is neither an export of a Trello board nor one of Cardwall.' }
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} kB`
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`
}
