// Sends one file with XMLHttpRequest, because fetch does not report upload progress.
import { api, ApiError, changeHeaders, data } from '../api/client'
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

/** The size from which an interrupted upload continues where it stopped, in bytes. */
const resumableSize = 1_000_000
/** The maximum size of a request, in bytes. Some proxies allow only 100 MB. */
const maxRequest = 64_000_000

/** A file to send. All attempts to send it have the same idempotency key, so it is attached only once. */
export type FileToSend = { cardId: string; file: File; key: string }

/** Called with the sent fraction. `kept` means that the server keeps it if the connection is lost. */
type Progress = (sent: number, kept?: boolean) => void

/**
 * Sends a file and returns its attachment. Reports the sent fraction of the file. For a large file, it
 * first reports what an earlier attempt has sent, and sends the rest.
 */
export async function uploadFile(upload: FileToSend, onprogress: Progress, signal: AbortSignal): Promise<Attachment> {
  for (;;) {
    try {
      return await (upload.file.size < resumableSize ? sendForm : sendRest)(upload, onprogress, signal)
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.status !== 401 || !(await signInAgain())) throw thrown
    }
  }
}

/** Reports whether a failed attempt may succeed later. */
export function isTemporary(thrown: unknown): boolean {
  if (!(thrown instanceof ApiError)) return false
  // The server is still processing an earlier attempt, or has received more than that reported.
  const inFlight = thrown.status === 409 && thrown.code === 'invalid_request'
  return thrown.unreachable || thrown.status === 429 || inFlight || thrown.reason === 'too_slow'
}

async function sendForm(upload: FileToSend, onprogress: Progress, signal: AbortSignal): Promise<Attachment> {
  const { cardId, file, key } = upload
  const form = new FormData()
  form.append('file', file, file.name)
  const path = `/cards/${encodeURIComponent(cardId)}/attachments`
  const { data } = await transfer(
    { method: 'POST', path, headers: changeHeaders(key), content: form, file },
    onprogress,
    signal,
  )
  if (!data) throw errorOf(200, undefined)
  return data
}

/** Sends what the server does not have of a file. Attempts with the same key continue the same upload. */
async function sendRest(upload: FileToSend, onprogress: Progress, signal: AbortSignal): Promise<Attachment> {
  const { cardId, file, key } = upload
  const announcement = { cardId, fileName: file.name, size: file.size }
  const { id } = await data(api.POST('/uploads', { body: announcement, headers: { 'Idempotency-Key': key }, signal }))
  const params = { path: { uploadId: id } }
  const progress = () => data(api.GET('/uploads/{uploadId}', { params, signal }))
  try {
    let { offset, attachmentId } = await progress()
    onprogress(offset / file.size, true)
    while (attachmentId === null) {
      const begin = offset
      const content = file.slice(begin, begin + maxRequest)
      const headers = {
        ...changeHeaders(key),
        'Content-Type': 'application/offset+octet-stream',
        'Upload-Offset': String(begin),
      }
      const ofFile = (sent: number) => onprogress((begin + sent * content.size) / file.size)
      await transfer({ method: 'PATCH', path: `/uploads/${id}`, headers, content, file }, ofFile, signal)
      ;({ offset, attachmentId } = await progress())
      if (offset === begin) throw new ApiError(0, 'unreachable', 'The connection was lost.')
      onprogress(offset / file.size, true)
    }
    return await data(api.GET('/attachments/{attachmentId}', { params: { path: { attachmentId } }, signal }))
  } catch (thrown) {
    // Nobody waits for the deletion. If it fails, the server removes the parts after a day.
    if (signal.aborted) void api.DELETE('/uploads/{uploadId}', { params }).catch(() => undefined)
    throw thrown
  }
}

type Transfer = { method: string; path: string; headers: Record<string, string>; content: FormData | Blob; file: File }

/** Sends content from a file to the public API. Reports the sent fraction of the content. */
function transfer(
  { method, path, headers, content, file }: Transfer,
  onprogress: Progress,
  signal: AbortSignal,
): Promise<Response> {
  const request = new XMLHttpRequest()
  return new Promise<Response>((resolve, reject) => {
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
    request.open(method, `/api/public/v1${path}`)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
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
      const response = parse(request.responseText)
      if (request.status < 300) resolve(response)
      else reject(errorOf(request.status, response.error))
    }
    request.send(content)
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
