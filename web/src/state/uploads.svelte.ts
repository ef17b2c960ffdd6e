// The files that are being attached to cards. Uploads do not depend on a page: they continue
// after the card is closed and while other boards are shown.
import { ApiError, reason } from '../api/client'
import { connection } from '../api/connection.svelte'
import { retryDelays } from '../api/send'
import type { Attachment } from '../api/types'
import { randomId } from '../lib/id'
import { attached, outcomeUnknown, setActiveUploads, type UploadTarget } from './attachFiles.svelte'
import { onSessionCleared, session } from './session.svelte'
import { isTemporary, UploadCanceled, uploadFile } from './uploadFile'

/** The number of files that are sent at the same time. */
const maxRunning = 3
/** The delays between attempts, in ms: those of send(), then longer ones. */
const delays = [...retryDelays, 3000, 6000, 12_000]
/** The delay between attempts while the browser is offline, in ms. It ends early when the browser is online again. */
const offlineDelay = 60_000
/** How long the result is shown after the last upload, in ms. */
const resultTime = 5000
const offlineText = 'You are offline. The upload continues when you’re back online.'

/** The upload of one file. */
export class Upload {
  /** The idempotency key, which is the same for all attempts until the server refuses the file. */
  key = randomId()
  state = $state<'waiting' | 'sending' | 'done' | 'failed'>('waiting')
  /** The sent fraction of the file. If it is 1 while `state` is `sending`, the server is saving the file. */
  sent = $state(0)
  /** Why the last attempt failed. While `state` is `sending`, the text also says that there will be another attempt. */
  problem = $state<string | null>(null)
  /** Whether the server may have attached the file although its response has not arrived. */
  mayBeAttached = false
  controller = new AbortController()

  constructor(
    readonly target: UploadTarget,
    readonly file: File,
    /** The user who added the file. */
    readonly userId: string | null,
  ) {}

  get active(): boolean {
    return this.state === 'waiting' || this.state === 'sending'
  }
}

type Send = typeof uploadFile
type Pause = (ms: number) => Promise<void>

export class Uploads {
  /** The active, failed and recently finished uploads, in the order in which they were added. */
  list = $state.raw<readonly Upload[]>([])
  /** The result of the last uploads, for screen readers. */
  announcement = $state('')
  /** The uploads that failed while others are active. */
  #failures: readonly Upload[] = []
  #clear: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly send: Send = uploadFile,
    private readonly pause: Pause = (ms) => connection.pause(ms),
    private readonly userId: () => string | null = () => session.userId,
  ) {}

  readonly active: readonly Upload[] = $derived(this.list.filter((u) => u.active))
  readonly failed: readonly Upload[] = $derived(this.list.filter((u) => u.state === 'failed'))

  /** The sent fraction of all files. */
  readonly progress: number = $derived.by(() => {
    const files = this.list.filter((u) => u.state !== 'failed')
    const total = files.reduce((n, u) => n + u.file.size, 0)
    return total === 0 ? 0 : files.reduce((n, u) => n + u.sent * u.file.size, 0) / total
  })

  /** Returns the uploads to a card that have not succeeded yet. */
  of(cardId: string): readonly Upload[] {
    return this.list.filter((u) => u.target.cardId === cardId && u.state !== 'done')
  }

  add(target: UploadTarget, files: readonly File[]): void {
    clearTimeout(this.#clear)
    this.#removeDone()
    this.announcement = ''
    const userId = this.userId()
    this.list = [...this.list, ...files.map((file) => new Upload(target, file, userId))]
    this.#next()
  }

  /** Cancels an upload, or removes a failed one from the list. */
  cancel(upload: Upload): void {
    this.#discard([upload])
  }

  cancelAll(): void {
    this.#discard(this.list)
  }

  /** Cancels all uploads without telling the open board. Called after the user has signed out. */
  clear(): void {
    this.#remove(this.list)
  }

  retry(upload: Upload): void {
    if (upload.state !== 'failed') return
    this.announcement = ''
    upload.problem = null
    upload.sent = 0
    if (!upload.mayBeAttached) upload.key = randomId() // otherwise the server would repeat its refusal
    upload.state = 'waiting'
    this.#next()
  }

  #discard(uploads: readonly Upload[]): void {
    const cardIds = new Set(uploads.filter((u) => u.mayBeAttached).map((u) => u.target.cardId))
    this.#remove(uploads)
    for (const cardId of cardIds) outcomeUnknown(cardId)
  }

  #remove(uploads: readonly Upload[]): void {
    for (const upload of uploads) upload.controller.abort()
    this.list = this.list.filter((u) => !uploads.includes(u))
    this.#failures = this.#failures.filter((u) => !uploads.includes(u))
    this.announcement = ''
    this.#next()
  }

  /** Starts waiting uploads. If there are none and nothing is being sent, reports the result. */
  #next(): void {
    while (this.list.filter((u) => u.state === 'sending').length < maxRunning) {
      const upload = this.list.find((u) => u.state === 'waiting')
      if (!upload) break
      void this.#run(upload)
    }
    setActiveUploads(this.active.length)
    if (this.active.length > 0) {
      addEventListener('beforeunload', warn)
      return
    }
    removeEventListener('beforeunload', warn)
    const done = this.list.filter((u) => u.state === 'done')
    const failed = this.#failures
    this.#failures = []
    if (done.length === 0 && failed.length === 0) return
    this.announcement = `${addedText(done)} ${failedText(failed)}`.trim()
    clearTimeout(this.#clear)
    this.#clear = setTimeout(() => this.#removeDone(), resultTime)
  }

  /** Removes the finished uploads and the announcement, if nothing is being sent. */
  #removeDone(): void {
    if (this.active.length > 0) return
    this.list = this.list.filter((u) => u.state !== 'done')
    this.announcement = ''
  }

  async #run(upload: Upload): Promise<void> {
    upload.state = 'sending'
    let attachment: Attachment
    try {
      attachment = await this.#sendWithRetries(upload)
    } catch (thrown) {
      if (upload.controller.signal.aborted) return
      upload.problem = reason(thrown)
      upload.state = 'failed'
      this.#failures = [...this.#failures, upload]
      this.announcement = failedText(this.#failures)
      this.#next()
      return
    }
    // Update the list first, so that the card never shows the file twice.
    upload.sent = 1
    upload.problem = null
    upload.mayBeAttached = false
    upload.state = 'done'
    this.#next()
    attached(attachment)
  }

  async #sendWithRetries(upload: Upload): Promise<Attachment> {
    const { target, file, controller } = upload
    let attempt = 0
    let kept = 0
    const onprogress = (sent: number, isKept = false) => {
      if (isKept && sent > kept) {
        kept = sent
        attempt = 0 // the last attempt was not in vain
      }
      upload.sent = sent
      upload.problem = null
      if (sent === 1) upload.mayBeAttached = true
    }
    for (; ; attempt++) {
      if (this.userId() !== upload.userId) {
        this.#remove([upload])
        throw new UploadCanceled()
      }
      try {
        return await this.send({ cardId: target.cardId, file, key: upload.key }, onprogress, controller.signal)
      } catch (thrown) {
        if (controller.signal.aborted) throw thrown
        if (thrown instanceof ApiError) upload.mayBeAttached = isTemporary(thrown) || thrown.status >= 500
        if (!isTemporary(thrown) || attempt >= delays.length) throw thrown
        upload.problem = navigator.onLine ? `${reason(thrown)} Trying again…` : offlineText
      }
      if (navigator.onLine) await this.pause(delays[attempt]!)
      else {
        attempt--
        await this.pause(offlineDelay)
      }
      controller.signal.throwIfAborted()
    }
  }
}

const warn = (event: BeforeUnloadEvent) => event.preventDefault()

/** Describes the files that were added: "Brief.pdf was added to “Launch”.", "3 files were added to “Launch”." */
function addedText(done: readonly Upload[]): string {
  const [first] = done
  if (!first) return ''
  const what = done.length === 1 ? `${first.file.name} was` : `${done.length} files were`
  const same = done.every((u) => u.target.cardId === first.target.cardId)
  return same ? `${what} added to “${first.target.cardTitle}”.` : `${what} added.`
}

/** Describes the files that failed: "Film.mp4 couldn’t be uploaded: …", "2 files couldn’t be uploaded." */
function failedText(failed: readonly Upload[]): string {
  const [first] = failed
  if (!first) return ''
  if (failed.length > 1) return `${failed.length} files couldn’t be uploaded.`
  return `${first.file.name} couldn’t be uploaded: ${first.problem}`
}

export const uploads = new Uploads()
onSessionCleared(() => uploads.clear())
