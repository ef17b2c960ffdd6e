// Uploads import files with XMLHttpRequest, because fetch does not report upload progress.
import { ApiError, clientId } from '../../api/client'
import { unavailableStatuses, retryDelays } from '../../api/send'
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

/**
 * The progress of an import. `sent` is the fraction of the file sent. `done` and `total`
 * count records or, for Trello, cards.
 */
export type UploadProgress = { sent: number; done: number; total: number }
/** An upload. `done` resolves to the report, or to the job if it was canceled or is still running. */
export type Upload = { done: Promise<Report | Job>; stop: () => void }

/** Thrown when the user stops the upload. */
export class UploadStopped extends Error {}

/**
 * Uploads a file. Retries if the server is unreachable, with an idempotency key so that
 * the file is imported only once.
 */
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
    return sendOnce(request, workspaceId, kind, file, key, onprogress)
  }
  const run = async (): Promise<Report | Job> => {
    for (const delay of retryDelays) {
      try {
        return await attempt()
      } catch (thrown) {
        if (!(thrown instanceof ApiError) || (thrown.status > 0 && !unavailableStatuses.includes(thrown.status)))
          throw thrown
      }
      await new Promise((resolve) => setTimeout(resolve, delay * (0.7 + Math.random())))
      if (stopped) throw new UploadStopped()
    }
    return attempt()
  }
  const stop = () => {
    stopped = true
    request?.abort()
  }
  return { done: run(), stop }
}

/** Makes one attempt to upload a file. */
function sendOnce(
  request: XMLHttpRequest,
  workspaceId: string,
  kind: Kind,
  file: Blob,
  key: string,
  onprogress: (progress: UploadProgress) => void,
): Promise<Report | Job> {
  const progress: UploadProgress = { sent: 0, done: 0, total: 0 }
  const report = (fields: Partial<UploadProgress>) => onprogress({ ...Object.assign(progress, fields) })
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
    const rejectAsLost = (status: number) =>
      reject(
        new ApiError(
          status,
          'unreachable',
          'The connection was lost. Before you try again, check whether the board was imported.',
        ),
      )
    request.onerror = () => rejectAsLost(0)
    request.onabort = () => reject(new UploadStopped())
    request.onload = () => {
      const line = lastLine(request.responseText) ?? {}
      if (request.status < 300 && line.data) resolve(line.data)
      else if (line.error) reject(new ApiError(request.status, line.error.code, line.error.message))
      else rejectAsLost(request.status < 300 ? 0 : request.status)
    }
    request.send(file)
  })
}

type Line = {
  progress?: { done: number; total: number }
  data?: Report | Job
  error?: { code: string; message: string }
}

/** Parses the last complete line of a response that may still be arriving. Returns null if it is not JSON. */
export function lastLine(text: string): Line | null {
  const lines = text.trimEnd().split('\n')
  if (text !== '' && !text.endsWith('\n') && lines.length > 1) lines.pop()
  try {
    return JSON.parse(lines.at(-1) ?? '') as Line
  } catch {
    return null
  }
}

const countLabels: [keyof Imported, string, string][] = [
  ['lists', 'list', 'lists'],
  ['cards', 'card', 'cards'],
  ['labels', 'label', 'labels'],
  ['checklists', 'checklist', 'checklists'],
  ['comments', 'comment', 'comments'],
  ['statusUpdates', 'status update', 'status updates'],
]

/** Describes the contents of an imported board: "3 lists, 24 cards and 2 labels". */
export function countsText(board: Imported): string {
  const parts = countLabels
    .map(([key, singular, plural]) => [board[key] as number, singular, plural] as const)
    .filter(([n]) => n > 0)
    .map(([n, singular, plural]) => `${n.toLocaleString('en')} ${n === 1 ? singular : plural}`)
  return parts.length === 0 ? 'empty' : new Intl.ListFormat('en').format(parts).replace(', and', ' and')
}
