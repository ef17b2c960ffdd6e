// Sends a file, and tells how much of it has gone; fetch does not.
import { ApiError, clientId } from '../../api/client'
import { absent, pauses } from '../../api/send'
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

/** Sends a file, and again when no server answered: under its key it is imported once. */
export function upload(workspaceId: string, kind: Kind, file: Blob, tell: (far: Far) => void): Upload {
  const key = randomId()
  let request: XMLHttpRequest | null = null
  let stopped = false
  const attempt = () => {
    request = new XMLHttpRequest()
    return sent(request, workspaceId, kind, file, key, tell)
  }
  const all = async (): Promise<Report> => {
    for (const pause of pauses) {
      try {
        return await attempt()
      } catch (thrown) {
        if (!(thrown instanceof ApiError) || (thrown.status > 0 && !absent.includes(thrown.status))) throw thrown
      }
      await new Promise((over) => setTimeout(over, pause * (0.7 + Math.random())))
      if (stopped) throw new Stopped()
    }
    return attempt()
  }
  const stop = () => {
    stopped = true
    request?.abort()
  }
  return { done: all(), stop }
}

function sent(
  request: XMLHttpRequest,
  workspaceId: string,
  kind: Kind,
  file: Blob,
  key: string,
  tell: (far: Far) => void,
): Promise<Report> {
  const far: Far = { sent: 0, done: 0, total: 0 }
  const say = (to: Partial<Far>) => tell({ ...Object.assign(far, to) })
  return new Promise((resolve, reject) => {
    request.open('POST', `/api/app/v1/workspaces/${encodeURIComponent(workspaceId)}/import?format=${kind}`)
    request.setRequestHeader('Content-Type', 'application/json')
    request.setRequestHeader('Accept', 'application/x-ndjson')
    request.setRequestHeader('X-Client', clientId)
    request.setRequestHeader('Idempotency-Key', key)
    request.upload.onprogress = (event) => say({ sent: event.lengthComputable ? event.loaded / event.total : 0 })
    request.upload.onload = () => say({ sent: 1 })
    request.onprogress = () => {
      const told = lastLine(request.responseText)
      if (told?.progress) say({ sent: 1, ...told.progress })
    }
    const lost = (status: number) =>
      reject(
        new ApiError(status, 'unreachable', 'The connection was lost. Look for the board before you import it again.'),
      )
    request.onerror = () => lost(0)
    request.onabort = () => reject(new Stopped())
    request.onload = () => {
      const told = lastLine(request.responseText) ?? {}
      if (request.status < 300 && told.data) resolve(told.data)
      else if (told.error) reject(new ApiError(request.status, told.error.code, told.error.message))
      else lost(request.status < 300 ? 0 : request.status)
    }
    request.send(file)
  })
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
