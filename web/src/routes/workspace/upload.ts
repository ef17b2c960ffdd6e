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

/** How far an import is: part of the bytes sent, then records of the file written. */
export type Far = { sent: number; done: number; total: number }
export type Upload = { done: Promise<Report>; stop: () => void }

/** The person called it off. */
export class Stopped extends Error {}

export function upload(workspaceId: string, kind: Kind, file: Blob, tell: (far: Far) => void): Upload {
  const far: Far = { sent: 0, done: 0, total: 0 }
  const say = (to: Partial<Far>) => tell({ ...Object.assign(far, to) })
  const request = new XMLHttpRequest()
  const done = new Promise<Report>((resolve, reject) => {
    request.open('POST', `/api/app/v1/workspaces/${encodeURIComponent(workspaceId)}/import?format=${kind}`)
    request.setRequestHeader('Content-Type', 'application/json')
    request.setRequestHeader('Accept', 'application/x-ndjson')
    request.setRequestHeader('X-Client', clientId)
    request.setRequestHeader('Idempotency-Key', randomId())
    request.upload.onprogress = (event) => say({ sent: event.lengthComputable ? event.loaded / event.total : 0 })
    request.upload.onload = () => say({ sent: 1 })
    request.onprogress = () => {
      const told = lastLine(request.responseText)
      if (told?.progress) say({ sent: 1, ...told.progress })
    }
    request.onerror = () =>
      reject(new ApiError(0, 'unreachable', 'The connection was lost. Nothing was imported; try again.'))
    request.onabort = () => reject(new Stopped('Called off; nothing was imported.'))
    request.onload = () => {
      const told = lastLine(request.responseText) ?? {}
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

type Line = {
  progress?: { done: number; total: number }
  data?: Report
  error?: { code: string; message: string }
}

/** The last whole line of an answer that may still be arriving. */
export function lastLine(text: string): Line | null {
  const whole = text.trimEnd().split('\n')
  if (text !== '' && !text.endsWith('\n') && whole.length > 1) whole.pop()
  try {
    return JSON.parse(whole.at(-1) ?? '') as Line
  } catch {
    return null
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
