// The public page of a board. It polls for changes and sends comments and cards.
import createClient from 'openapi-fetch'
import { ApiError, data, reason } from '../../api/client'
import type { paths, SharedBoard, SharedCardDetail, SubmittedCard } from '../../api/contract'
import { send } from '../../api/send'
import { randomId } from '../../lib/id'

// Without cookies: people who are signed in are guests here.
const client = createClient<paths>({ baseUrl: '/api/app/v1', credentials: 'omit', fetch: send })

const pollInterval = 15_000
const pollIntervalAfterError = 60_000
/** The server treats anything sent sooner than this after loading the page as sent by a bot. */
const minWritingTime = 3_500
const ticketLifetime = 60 * 60_000
const nameKey = 'cardwall-guest-name'

export type Draft = { name: string; website: string }

export class SharedPage {
  board = $state.raw<SharedBoard | null>(null)
  /** Whether the page does not exist or is no longer shared. */
  gone = $state(false)
  problem = $state<string | null>(null)
  /** The version of the content. */
  tag = $state('')
  #ticket = ''
  #ticketAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #ended = false

  constructor(readonly key: string) {}

  /** Loads the page and polls while the window is visible. The returned function stops it. */
  begin = (): (() => void) => {
    this.#ended = false
    const seen = () => {
      if (!document.hidden) void this.load()
    }
    document.addEventListener('visibilitychange', seen)
    void this.load()
    return () => {
      this.#ended = true
      clearTimeout(this.#timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }

  load = async (): Promise<void> => {
    clearTimeout(this.#timer)
    let pause = pollInterval
    try {
      const { key, tag } = this
      const found = await data(client.POST('/public-page', { body: tag ? { key, tag } : { key } }))
      if (found.board) this.board = found.board
      this.tag = found.tag
      this.gone = false
      this.problem = null
      if (Date.now() - this.#ticketAt > ticketLifetime) this.#keep(found.ticket)
    } catch (thrown) {
      pause = pollIntervalAfterError
      if (thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 400)) {
        this.gone = true
        this.board = null
        this.tag = ''
      } else this.problem = reason(thrown)
    }
    if (!this.#ended && !document.hidden) this.#timer = setTimeout(() => void this.load(), pause)
  }

  card(number: number): Promise<SharedCardDetail> {
    return data(client.POST('/public-page/card', { body: { key: this.key, number } }))
  }

  comment(draft: Draft, number: number, text: string, attempt: string): Promise<unknown> {
    return this.#send(draft, (sent) =>
      client.POST('/public-page/comments', {
        body: { ...sent, number, text },
        headers: { 'Idempotency-Key': attempt },
      }),
    )
  }

  submit(draft: Draft, title: string, description: string, attempt: string): Promise<SubmittedCard> {
    return this.#send(draft, (sent) =>
      client.POST('/public-page/cards', {
        body: { ...sent, title, description },
        headers: { 'Idempotency-Key': attempt },
      }),
    )
  }

  #keep(ticket: string): void {
    this.#ticket = ticket
    this.#ticketAt = Date.now()
  }

  async #send<T>(
    draft: Draft,
    send: (sent: { key: string; ticket: string; name: string; website?: string }) => Parameters<typeof data<T>>[0],
  ): Promise<T> {
    const early = this.#ticketAt + minWritingTime - Date.now()
    if (early > 0) await new Promise((later) => setTimeout(later, early))
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

/** An idempotency key that stays the same until the content changes. */
export class Attempt {
  #of = ''
  #key = ''

  key(...content: string[]): string {
    const of = content.join('\u0000')
    if (of !== this.#of) {
      this.#of = of
      this.#key = randomId()
    }
    return this.#key
  }
}
