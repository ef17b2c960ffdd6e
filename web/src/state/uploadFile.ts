// Sends one file with XMLHttpRequest, because fetch does not report upload progress.
import { ApiError, changeHeaders } from '../api/client'
import { signInAgain } from '../api/send'
import type { Attachment } from '../api/types'

/** Thrown when an upload is canceled. */
export class UploadCanceled extends Error {}

/** Thrown when the browser can't read the file. */
export class UnreadableFile extends Error {
  constructor() {
    super('The file can’t be read. It may have been changed, moved or deleted. Choose it again.')
  }
}

/** A file to send. All attempts to send it have the same idempotency key, so it is attached only once. */
export type FileToSend = { cardId: string; file: File; key: string }

/** Sends a file and returns its attachment. Reports the sent fraction of the file. */
export async function uploadFile(
  upload: FileToSend,
  onprogress: (sent: number) => void,
  signal: AbortSignal,
): Promise<Attachment> {
  for (;;) {
    try {
      return await sendOnce(upload, onprogress, signal)
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.status !== 401 || !(await signInAgain())) throw thrown
    }
  }
}

/** Reports whether a failed attempt may succeed later. */
export function isTemporary(thrown: unknown): boolean {
  if (!(thrown instanceof ApiError)) return false
  // The server is still processing an earlier attempt.
  const inFlight = thrown.status === 409 && thrown.code === 'invalid_request'
  return thrown.unreachable || thrown.status === 429 || inFlight
}

function sendOnce(
  { cardId, file, key }: FileToSend,
  onprogress: (sent: number) => void,
  signal: AbortSignal,
): Promise<Attachment> {
  const form = new FormData()
  form.append('file', file, file.name)
  const request = new XMLHttpRequest()
  return new Promise<Attachment>((resolve, reject) => {
    const cancel = () => {
      request.abort()
      reject(new UploadCanceled())
    }
    if (signal.aborted) {
      cancel()
      return
    }
    signal.addEventListener('abort', cancel)
    request.onloadend = () => signal.removeEventListener('abort', cancel)
    request.open('POST', `/api/public/v1/cards/${encodeURIComponent(cardId)}/attachments`)
    for (const [name, value] of Object.entries(changeHeaders(key))) request.setRequestHeader(name, value)
    request.upload.onprogress = (event) => onprogress(event.total > 0 ? event.loaded / event.total : 0)
    request.upload.onload = () => onprogress(1)
    request.onerror = () => {
      // The browser reports an unreadable file like a lost connection.
      const firstByte = file.slice(0, 1).arrayBuffer()
      firstByte.then(
        () => reject(new ApiError(0, 'unreachable', 'The connection was lost.')),
        () => reject(new UnreadableFile()),
      )
    }
    request.onload = () => {
      const { data, error } = parse(request.responseText)
      if (request.status < 300 && data) resolve(data)
      else reject(errorOf(request.status, error))
    }
    request.send(form)
  })
}

type Response = { data?: Attachment; error?: { code: string; message: string; reason?: string } }

function parse(text: string): Response {
  try {
    return (JSON.parse(text) as Response | null) ?? {}
  } catch {
    return {}
  }
}

function errorOf(status: number, error: Response['error']): ApiError {
  if (error) return new ApiError(status, error.code, error.message, error.reason)
  // A proxy may limit the size of requests. Its response is not JSON.
  const message = status === 413 ? 'The file is too large.' : `The server responded with an error (${status}).`
  return new ApiError(status, 'internal', message)
}
