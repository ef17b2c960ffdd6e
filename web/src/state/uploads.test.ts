import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError } from '../api/client'
import type { Attachment } from '../api/types'
import { activeUploads, listenToUploads } from './attachFiles.svelte'
import { clearSession } from './session.svelte'
import { UploadCanceled, uploadFile, type FileToSend } from './uploadFile'
import { Uploads, uploads as pageUploads } from './uploads.svelte'

const target = { cardId: 'crd_1', cardTitle: 'Launch' }
const file = (name: string, size = 10) => new File(['x'.repeat(size)], name)
const lost = () => new ApiError(0, 'unreachable', 'The connection was lost.')

type Attempt = FileToSend & {
  progress: (sent: number, kept?: boolean) => void
  succeed: () => void
  fail: (error: ApiError) => void
}

/** The attempts to send files, in order. */
let attempts: Attempt[]
let pauses: number[]
let uploads: Uploads
/** The ID of the signed-in user. */
let userId: string | null
/** The IDs of the added attachments, and of the cards that must be loaded. */
let added: string[]
let uncertain: string[]
let stopListening: () => void

const names = () => attempts.map((a) => a.file.name)
const states = () => uploads.list.map((u) => `${u.file.name} ${u.state}`)
const settle = () => vi.advanceTimersByTimeAsync(0)
const warns = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }))

beforeEach(() => {
  vi.useFakeTimers()
  attempts = []
  pauses = []
  userId = 'usr_1'
  added = []
  uncertain = []
  stopListening = listenToUploads({
    attached: (a) => added.push(a.id),
    outcomeUnknown: (cardId) => uncertain.push(cardId),
  })
  uploads = new Uploads(
    (upload, progress, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new UploadCanceled()))
        const succeed = () => resolve({ id: `att_${upload.file.name}`, cardId: upload.cardId } as Attachment)
        attempts.push({ ...upload, progress, succeed, fail: reject })
      }),
    async (ms) => void pauses.push(ms),
    () => userId,
  )
})
afterEach(() => {
  uploads.cancelAll()
  stopListening()
  vi.useRealTimers()
})

describe('Uploads', () => {
  test('sends three files at a time, and reports each attachment', async () => {
    uploads.add(
      target,
      ['a', 'b', 'c', 'd'].map((name) => file(name)),
    )
    expect(names()).toEqual(['a', 'b', 'c'])
    expect(warns()).toBe(true)
    attempts[1]!.succeed()
    await settle()
    expect(names()).toEqual(['a', 'b', 'c', 'd'])
    expect(states()).toEqual(['a sending', 'b done', 'c sending', 'd sending'])
    for (const attempt of attempts) attempt.succeed()
    await settle()
    expect(added.toSorted()).toEqual(['att_a', 'att_b', 'att_c', 'att_d'])
    expect(uploads.announcement).toBe('4 files were added to “Launch”.')
    expect(warns()).toBe(false)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(uploads.list).toEqual([])
    expect(uploads.announcement).toBe('')
  })

  test('the progress weighs files by their size', () => {
    uploads.add(target, [file('small', 100), file('large', 300)])
    attempts[0]!.progress(1)
    expect(uploads.progress).toBe(0.25)
    attempts[1]!.progress(0.5)
    expect(uploads.progress).toBe(0.625)
  })

  test('repeats an interrupted upload with the same key', async () => {
    uploads.add(target, [file('a')])
    attempts[0]!.fail(lost())
    await settle()
    attempts[1]!.fail(new ApiError(503, 'unavailable', 'Try again later.'))
    await settle()
    expect(uploads.list[0]).toMatchObject({ state: 'sending', problem: 'Try again later. Trying again…' })
    attempts[2]!.progress(0.5)
    expect(uploads.list[0]!.problem).toBeNull()
    attempts[2]!.succeed()
    await settle()
    expect(new Set(attempts.map((a) => a.key)).size).toBe(1)
    expect(pauses).toEqual([150, 500])
    expect(states()).toEqual(['a done'])
  })

  test('gives up after some attempts, and continues with the same key when asked to', async () => {
    uploads.add(target, [file('a')])
    for (let n = 0; n < 7; n++) {
      attempts[n]!.fail(lost())
      await settle()
    }
    expect(states()).toEqual(['a failed'])
    expect(uploads.list[0]!.problem).toBe('The connection was lost.')
    expect(warns()).toBe(false)
    uploads.retry(uploads.list[0]!)
    attempts[7]!.succeed()
    await settle()
    expect(attempts[7]!.key).toBe(attempts[0]!.key)
    expect(uploads.announcement).toBe('a was added to “Launch”.')
  })

  test('does not give up as long as each attempt sends more of the file', async () => {
    uploads.add(target, [file('a')])
    for (let n = 0; n < 20; n++) {
      attempts[n]!.progress(n / 40, true)
      attempts[n]!.fail(lost())
      await settle()
    }
    expect(states()).toEqual(['a sending'])
    expect(uploads.list[0]!.sent).toBe(19 / 40)
    for (let n = 20; n < 27; n++) {
      attempts[n]!.progress(0.5, true)
      attempts[n]!.fail(lost())
      await settle()
    }
    expect(states()).toEqual(['a failed'])
  })

  test('does not repeat a rejected upload, and keeps the reason until it is dismissed', async () => {
    uploads.add(target, [file('a'), file('b')])
    attempts[0]!.fail(new ApiError(402, 'plan_limit', 'The file is too large.'))
    attempts[1]!.succeed()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(attempts).toHaveLength(2)
    expect(states()).toEqual(['a failed'])
    expect(uploads.of('crd_1')[0]!.problem).toBe('The file is too large.')
    expect(uploads.of('crd_2')).toEqual([])
    uploads.retry(uploads.list[0]!)
    expect(attempts[2]!.key, 'the server would repeat its refusal').not.toBe(attempts[0]!.key)
    attempts[2]!.fail(new ApiError(402, 'plan_limit', 'The file is too large.'))
    await settle()
    uploads.cancel(uploads.list[0]!)
    expect(uploads.list).toEqual([])
  })

  test('a canceled upload makes room for the next', async () => {
    uploads.add(
      target,
      ['a', 'b', 'c', 'd'].map((name) => file(name)),
    )
    uploads.cancel(uploads.list[0]!)
    await settle()
    expect(states()).toEqual(['b sending', 'c sending', 'd sending'])
    expect(names()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('files of a user who has signed out are not sent as the next user', async () => {
    uploads.add(
      target,
      ['a', 'b', 'c', 'd'].map((name) => file(name)),
    )
    expect(activeUploads()).toBe(4)
    userId = 'usr_2'
    attempts[0]!.fail(lost())
    await settle()
    expect(names()).toEqual(['a', 'b', 'c'])
    expect(states()).toEqual(['b sending', 'c sending'])
    uploads.clear()
    await settle()
    expect(uploads.list).toEqual([])
    expect(activeUploads()).toBe(0)
    expect(uncertain).toEqual([])
  })

  test('signing out cancels the uploads of the page', () => {
    vi.stubGlobal('XMLHttpRequest', FakeRequest)
    pageUploads.add(target, [file('a')])
    expect(FakeRequest.current.file.name).toBe('a')
    clearSession()
    expect(FakeRequest.current.aborted).toBe(true)
    expect(pageUploads.list).toEqual([])
    vi.unstubAllGlobals()
  })

  test('says that the upload continues when the browser is online again', async () => {
    const online = vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)
    uploads.add(target, [file('a')])
    attempts[0]!.fail(lost())
    await settle()
    expect(uploads.list[0]!.problem).toBe('You are offline. The upload continues when you’re back online.')
    expect(pauses).toEqual([60_000])
    online.mockRestore()
  })

  test('announces failures, until more files are added', async () => {
    uploads.add(target, [file('a'), file('b'), file('c')])
    attempts[0]!.fail(new ApiError(402, 'plan_limit', 'The file is too large.'))
    await settle()
    expect(uploads.announcement).toBe('a couldn’t be uploaded: The file is too large.')
    attempts[1]!.fail(new ApiError(402, 'plan_limit', 'The file is too large.'))
    attempts[2]!.succeed()
    await settle()
    expect(uploads.announcement).toBe('c was added to “Launch”. 2 files couldn’t be uploaded.')
    uploads.add(target, [file('d')])
    expect(uploads.announcement).toBe('')
    attempts[3]!.succeed()
    await settle()
    expect(uploads.announcement).toBe('d was added to “Launch”.')
  })

  test('the card is loaded if the server may have attached a canceled or failed file', async () => {
    uploads.add(target, [file('a')])
    attempts[0]!.progress(0.5)
    uploads.cancel(uploads.list[0]!)
    expect(uncertain).toEqual([])
    uploads.add(target, [file('b')])
    attempts[1]!.progress(1)
    uploads.cancel(uploads.list[0]!)
    expect(uncertain).toEqual(['crd_1'])

    uploads.add(target, [file('c')])
    attempts[2]!.progress(1)
    attempts[2]!.fail(new ApiError(402, 'plan_limit', 'The file is too large.'))
    await settle()
    uploads.cancelAll()
    expect(uncertain).toEqual(['crd_1'])
    uploads.add(target, [file('d')])
    for (let n = 3; n < 10; n++) {
      attempts[n]!.fail(lost())
      await settle()
    }
    uploads.cancelAll()
    expect(uncertain).toEqual(['crd_1', 'crd_1'])
  })
})

/** A fake XMLHttpRequest. Tests call its event handlers. */
class FakeRequest {
  static current: FakeRequest
  upload = {}
  status = 0
  responseText = ''
  aborted = false
  file!: File
  path = ''
  headers: Record<string, string> = {}
  content!: FormData | Blob
  onload!: () => void
  onerror!: () => void
  constructor() {
    FakeRequest.current = this
  }
  open(method: string, path: string): void {
    this.path = `${method} ${path}`
  }
  setRequestHeader(name: string, value: string): void {
    this.headers[name] = value
  }
  send(content: FormData | Blob): void {
    this.content = content
    if (content instanceof FormData) this.file = content.get('file') as File
  }
  abort(): void {
    this.aborted = true
  }
}

describe('uploadFile', () => {
  const start = (file: File) =>
    uploadFile({ cardId: 'crd_1', file, key: 'key' }, () => undefined, new AbortController().signal)

  beforeEach(() => vi.stubGlobal('XMLHttpRequest', FakeRequest))
  afterEach(() => vi.unstubAllGlobals())

  test('distinguishes a file that can’t be read from a lost connection', async () => {
    const sent = start(file('a'))
    FakeRequest.current.onerror()
    await expect(sent).rejects.toThrow('The connection was lost.')

    const deleted = file('b')
    deleted.slice = () => ({ arrayBuffer: () => Promise.reject(new Error('not found')) }) as unknown as Blob
    uploads = new Uploads(uploadFile)
    vi.stubGlobal('XMLHttpRequest', FakeRequest)
    uploads.add(target, [deleted])
    const request = FakeRequest.current
    request.onerror()
    await settle()
    expect(uploads.list[0]).toMatchObject({
      state: 'failed',
      problem: 'The file can’t be read. It may have been changed, moved or deleted. Choose it again.',
    })
    expect(FakeRequest.current).toBe(request)
  })

  test('sends the part of a large file that the server does not have', async () => {
    let upload = { id: 'upl_1', offset: 400_000, attachmentId: null as string | null }
    const sent: string[] = []
    vi.stubGlobal('fetch', async (request: Request) => {
      sent.push(`${request.method} ${new URL(request.url).pathname}`)
      return Response.json({ data: request.url.includes('/attachments/') ? { id: 'att_1' } : upload })
    })
    const progress: number[] = []
    const result = uploadFile(
      { cardId: 'crd_1', file: file('Film.mp4', 2_000_000), key: 'key' },
      (fraction) => progress.push(fraction),
      new AbortController().signal,
    )
    await vi.waitFor(() => expect(FakeRequest.current.path).toBe('PATCH /api/public/v1/uploads/upl_1'))
    const request = FakeRequest.current
    expect(request.headers['Upload-Offset']).toBe('400000')
    expect((request.content as Blob).size).toBe(1_600_000)
    const events = request.upload as { onprogress: (e: { loaded: number; total: number }) => void; onload: () => void }
    events.onprogress({ loaded: 800_000, total: 1_600_000 })
    events.onload()
    upload = { ...upload, offset: 2_000_000, attachmentId: 'att_1' }
    request.status = 204
    request.onload()
    await expect(result).resolves.toEqual({ id: 'att_1' })
    expect(progress).toEqual([0.2, 0.6, 1, 1])
    expect(sent).toEqual([
      'POST /api/public/v1/uploads',
      'GET /api/public/v1/uploads/upl_1',
      'GET /api/public/v1/uploads/upl_1',
      'GET /api/public/v1/attachments/att_1',
    ])
  })

  test('sends a very large file in several requests', async () => {
    const size = 150_000_000
    const film = file('Film.mp4')
    Object.defineProperty(film, 'size', { value: size })
    film.slice = (from = 0, to = size) => ({ size: Math.min(to, size) - from }) as Blob
    let offset = 0
    vi.stubGlobal('fetch', async (request: Request) => {
      const upload = { id: 'upl_1', offset, attachmentId: offset === size ? 'att_1' : null }
      return Response.json({ data: request.url.includes('/attachments/') ? { id: 'att_1' } : upload })
    })
    const kept: number[] = []
    const onprogress = (sent: number, isKept?: boolean) => isKept && kept.push(Math.round(sent * size))
    const result = uploadFile({ cardId: 'crd_1', file: film, key: 'key' }, onprogress, new AbortController().signal)
    for (const part of [64_000_000, 64_000_000, 22_000_000]) {
      await vi.waitFor(() => expect(FakeRequest.current.headers['Upload-Offset']).toBe(String(offset)))
      expect((FakeRequest.current.content as Blob).size).toBe(part)
      offset += part
      FakeRequest.current.status = 204
      FakeRequest.current.onload()
    }
    await expect(result).resolves.toEqual({ id: 'att_1' })
    expect(kept).toEqual([0, 64_000_000, 128_000_000, size])
  })

  test('cancels a large file on the server', async () => {
    const sent: string[] = []
    vi.stubGlobal('fetch', async (request: Request) => {
      sent.push(request.method)
      return Response.json({ data: { id: 'upl_1', offset: 0, attachmentId: null } })
    })
    const controller = new AbortController()
    const large = { cardId: 'crd_1', file: file('Film.mp4', 2_000_000), key: 'key' }
    const result = uploadFile(large, () => controller.abort(), controller.signal)
    await expect(result).rejects.toThrow(UploadCanceled)
    await vi.waitFor(() => expect(sent).toEqual(['POST', 'GET', 'DELETE']))
  })

  test('rejects a response without an attachment', async () => {
    const sent = start(file('a'))
    Object.assign(FakeRequest.current, { status: 200, responseText: 'null' })
    FakeRequest.current.onload()
    await expect(sent).rejects.toThrow('The server responded with an error (200).')
  })
})
