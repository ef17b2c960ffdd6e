// Uploads a file with XMLHttpRequest, because fetch does not report upload progress.
import { ApiError, clientId } from '../../api/client'
import { unavailable, retryDelays } from '../../api/send'
import type { Job } from '../../api/types'
import { randomId } from '../../lib/id'
import type { Kind } from './importFile'

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

/** Progress of an import: the fraction of bytes sent, then the number of records written. */
export type UploadProgress = { sent: number; done: number; total: number }
/** An upload ends with the report, or with the job if it was cancelled or takes very long. */
export type Upload = { done: Promise<Report | Job>; stop: () => void }

/** Thrown when the person stops the upload. */
export class Stopped extends Error {}

/** Uploads a file and retries if the server is unreachable. The idempotency key makes the import happen once. */
export function upload(
  workspaceId: string,
  kind: Kind,
  file: Blob,
  onprogress: (progress: UploadProgress) => void,
): Upload {
  const key = randomId()
  let request: XMLHttpRequest | null = null
  let stopped = false
  const attempt = () => {
    request = new XMLHttpRequest()
    return sent(request, workspaceId, kind, file, key, onprogress)
  }
  const all = async (): Promise<Report | Job> => {
    for (const delay of retryDelays) {
      try {
        return await attempt()
      } catch (thrown) {
        if (!(thrown instanceof ApiError) || (thrown.status > 0 && !unavailable.includes(thrown.status))) throw thrown
      }
      await new Promise((done) => setTimeout(done, delay * (0.7 + Math.random())))
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
  onprogress: (progress: UploadProgress) => void,
): Promise<Report | Job> {
  const progress: UploadProgress = { sent: 0, done: 0, total: 0 }
  const report = (to: Partial<UploadProgress>) => onprogress({ ...Object.assign(progress, to) })
  return new Promise((resolve, reject) => {
    request.open('POST', `/api/app/v1/workspaces/${encodeURIComponent(workspaceId)}/import?format=${kind}`)
    request.setRequestHeader('Content-Type', 'application/json')
    request.setRequestHeader('Accept', 'application/x-ndjson')
    request.setRequestHeader('X-Client', clientId)
    request.setRequestHeader('Idempotency-Key', key)
    request.upload.onprogress = (event) => report({ sent: event.lengthComputable ? event.loaded / event.total : 0 })
    request.upload.onload = () => report({ sent: 1 })
    request.onprogress = () => {
      const line = lastLine(request.responseText)
      if (line?.progress) report({ sent: 1, ...line.progress })
    }
    const lost = (status: number) =>
      reject(
        new ApiError(
          status,
          'unreachable',
          'The connection was lost. Check whether the board was imported before you try again.',
        ),
      )
    request.onerror = () => lost(0)
    request.onabort = () => reject(new Stopped())
    request.onload = () => {
      const line = lastLine(request.responseText) ?? {}
      if (request.status < 300 && line.data) resolve(line.data)
      else if (line.error) reject(new ApiError(request.status, line.error.code, line.error.message))
      else lost(request.status < 300 ? 0 : request.status)
    }
    request.send(file)
  })
}

type Line = {
  progress?: { done: number; total: number }
  data?: Report | Job
  error?: { code: string; message: string }
}

/** Returns the last complete line of a response that may still be arriving. */
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
  return parts.length === 0 ? 'empty' : new Intl.ListFormat('en').format(parts).replace(', and', ' and')
}
