// Sends a file, and tells how much of it has gone; fetch does not.
import { ApiError, clientId } from '../../api/client'
import { randomId } from '../../lib/id'
import type { Kind } from './file'

export type Imported = {
  id: string
  name: string
  lists: number
  cards: number
  labels: number
  checklists: number
  items: number
  comments: number
  statusUpdates: number
}
export type Note = { what: string; count: number; examples: string[] | null }
export type Report = { boards: Imported[] | null; savedFilters: number; notes: Note[] | null }

export type Upload = { done: Promise<Report>; stop: () => void }

/** The person called it off. */
export class Stopped extends Error {}

export function upload(workspaceId: string, kind: Kind, file: Blob, onsent: (part: number) => void): Upload {
  const request = new XMLHttpRequest()
  const done = new Promise<Report>((resolve, reject) => {
    request.open('POST', `/api/app/v1/workspaces/${encodeURIComponent(workspaceId)}/import?format=${kind}`)
    request.setRequestHeader('Content-Type', 'application/json')
    request.setRequestHeader('X-Client', clientId)
    request.setRequestHeader('Idempotency-Key', randomId())
    request.upload.onprogress = (event) => onsent(event.lengthComputable ? event.loaded / event.total : 0)
    request.upload.onload = () => onsent(1)
    request.onerror = () =>
      reject(new ApiError(0, 'unreachable', 'The connection was lost. Nothing was imported; try again.'))
    request.onabort = () => reject(new Stopped('Called off; nothing was imported.'))
    request.onload = () => {
      const told = read(request.responseText)
      if (request.status < 300 && told.data) resolve(told.data)
      else {
        const text = `The server answered with an error (${request.status}). Nothing was imported.`
        reject(new ApiError(request.status, told.error?.code ?? 'internal', told.error?.message ?? text))
      }
    }
    request.send(file)
  })
  return { done, stop: () => request.abort() }
}

function read(text: string): { data?: Report; error?: { code: string; message: string } } {
  try {
    return JSON.parse(text) as ReturnType<typeof read>
  } catch {
    return {}
  }
}

const counted: [keyof Imported, string, string][] = [
  ['lists', 'list', 'lists'],
  ['cards', 'card', 'cards'],
  ['labels', 'label', 'labels'],
  ['checklists', 'checklist', 'checklists'],
  ['comments', 'comment', 'comments'],
  ['statusUpdates', 'status update', 'status updates'],
]

/** "3 lists, 24 cards and 2 labels". */
export function countsText(board: Imported): string {
  const parts = counted
    .map(([key, one, many]) => [board[key] as number, one, many] as const)
    .filter(([n]) => n > 0)
    .map(([n, one, many]) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`)
  return parts.length === 0 ? 'nothing in it' : new Intl.ListFormat('en').format(parts).replace(', and', ' and')
}
