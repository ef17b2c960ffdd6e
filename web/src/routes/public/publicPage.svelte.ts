// The public page of a board. It polls for changes and sends comments and cards.
import createClient from 'openapi-fetch'
import { ApiError, data, reason } from '../../api/client'
import type { paths, SharedBoard, SharedCardDetail, SubmittedCard } from '../../api/contract'
import { send } from '../../api/send'
import type { PictureSize } from '../../lib/contentUrl'
import { randomId } from '../../lib/id'

// Sends no cookies, because people who are signed in are guests here too.
const client = createClient<paths>({ baseUrl: '/api/app/v1', credentials: 'omit', fetch: send })

/** The delays between requests, in ms. */
const pollInterval = 15_000
const pollIntervalAfterError = 60_000
/** The minimum time in ms between loading the page and sending. The server treats anything sent sooner as spam. */
const minWritingTime = 3_500
const ticketLifetime = 60 * 60_000 // ms
const nameKey = 'cardwall-guest-name'

export type Draft = { name: string; website: string }

export class SharedPage {
  board = $state.raw<SharedBoard | null>(null)
  /** Whether the page does not exist or is no longer shared. */
  notFound = $state(false)
  problem = $state<string | null>(null)
  /** The version of the content, as returned by the server. */
  tag = $state('')
  #ticket = ''
  #ticketAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #stopped = false

  constructor(readonly key: string) {}

  /** Loads the page and polls for changes while the tab is visible. The returned function stops the polling. */
  begin = (): (() => void) => {
    this.#stopped = false
    const onVisibilityChange = () => {
      if (!document.hidden) void this.load()
    }
    document.addEventListener('visibilitychange', onVisibilityChange)
    void this.load()
    return () => {
      this.#stopped = true
      clearTimeout(this.#timer)
      document.removeEventListener('visibilitychange', onVisibilityChange)
    }
  }

  load = async (): Promise<void> => {
    clearTimeout(this.#timer)
    let delay = pollInterval
    try {
      const { key, tag } = this
      const response = await data(client.POST('/public-page', { body: tag ? { key, tag } : { key } }))
      if (response.board) this.board = response.board
      this.tag = response.tag
      this.notFound = false
      this.problem = null
      if (Date.now() - this.#ticketAt > ticketLifetime) this.#storeTicket(response.ticket)
    } catch (thrown) {
      delay = pollIntervalAfterError
      if (thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 400)) {
        this.notFound = true
        this.board = null
        this.tag = ''
      } else this.problem = reason(thrown)
    }
    if (!this.#stopped && !document.hidden) this.#timer = setTimeout(() => void this.load(), delay)
  }

  card(number: number): Promise<SharedCardDetail> {
    return data(client.POST('/public-page/card', { body: { key: this.key, number } }))
  }

  /** Returns the URL of a file on a card, or of a scaled picture if `size` is given. */
  fileUrl(number: number, file: string, size?: PictureSize): string {
    const query = new URLSearchParams({ key: this.key, number: String(number), file, ...(size && { size }) })
    return `/api/app/v1/public-page/file?${query}`
  }

  /** The URL of the picture behind the lists. */
  get backgroundUrl(): string {
    return `/api/app/v1/public-page/background?key=${this.key}&version=${this.board?.background}`
  }

  comment(draft: Draft, number: number, text: string, attempt: string): Promise<unknown> {
    return this.#send(draft, (fields) =>
      client.POST('/public-page/comments', {
        body: { ...fields, number, text },
        headers: { 'Idempotency-Key': attempt },
      }),
    )
  }

  submit(draft: Draft, title: string, description: string, attempt: string): Promise<SubmittedCard> {
    return this.#send(draft, (fields) =>
      client.POST('/public-page/cards', {
        body: { ...fields, title, description },
        headers: { 'Idempotency-Key': attempt },
      }),
    )
  }

  #storeTicket(ticket: string): void {
    this.#ticket = ticket
    this.#ticketAt = Date.now()
  }

  async #send<T>(
    draft: Draft,
    send: (fields: { key: string; ticket: string; name: string; website?: string }) => Parameters<typeof data<T>>[0],
  ): Promise<T> {
    const waitTime = this.#ticketAt + minWritingTime - Date.now()
    if (waitTime > 0) await new Promise((resolve) => setTimeout(resolve, waitTime))
    const { key } = this
    const website = draft.website ? { website: draft.website } : {}
    const result = await data(send({ key, ticket: this.#ticket, name: draft.name.trim(), ...website }))
    storeName(draft.name.trim())
    void this.load()
    return result
  }
}

/** Returns the name that a guest last used in this browser. */
export function storedName(): string {
  return localStorage.getItem(nameKey) ?? ''
}

function storeName(name: string): void {
  localStorage.setItem(nameKey, name)
}

/** Generates idempotency keys. The key stays the same until the content changes. */
export class Attempt {
  #content = ''
  #key = ''

  key(...content: string[]): string {
    const joined = content.join('\u0000')
    if (joined !== this.#content) {
      this.#content = joined
      this.#key = randomId()
    }
    return this.#key
  }
}
