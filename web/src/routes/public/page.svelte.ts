// The public page of a board as it is now: looked at again and again, and sent to.
import createClient from 'openapi-fetch'
import { ApiError, data, reason } from '../../api/client'
import type { paths, SharedBoard, SharedCardDetail, SubmittedCard } from '../../api/contract'
import { send } from '../../api/send'
import { randomId } from '../../lib/id'

// Without cookies: who is signed in elsewhere is a guest here.
const client = createClient<paths>({ baseUrl: '/api/app/v1', credentials: 'omit', fetch: send })

const lookAgain = 15_000
const lookAgainAfterTrouble = 60_000
/** What comes sooner than this after the page was looked at is taken for a program's. */
const writingTakes = 3_500
const ticketLasts = 60 * 60_000
const nameKey = 'cardwall-guest-name'

export type Draft = { name: string; website: string }

export class SharedPage {
  board = $state.raw<SharedBoard | null>(null)
  /** There is no such page, or not any more. */
  gone = $state(false)
  problem = $state<string | null>(null)
  /** What the page shows; another word when anything has changed. */
  tag = $state('')
  #ticket = ''
  #ticketAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #ended = false

  constructor(readonly key: string) {}

  /** Looks now and from then on, while the window is seen; returns what ends it. */
  begin = (): (() => void) => {
    this.#ended = false
    const seen = () => {
      if (!document.hidden) void this.look()
    }
    document.addEventListener('visibilitychange', seen)
    void this.look()
    return () => {
      this.#ended = true
      clearTimeout(this.#timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }

  look = async (): Promise<void> => {
    clearTimeout(this.#timer)
    let pause = lookAgain
    try {
      const { key, tag } = this
      const found = await data(client.POST('/public-page', { body: tag ? { key, tag } : { key } }))
      if (found.board) this.board = found.board
      this.tag = found.tag
      this.gone = false
      this.problem = null
      if (Date.now() - this.#ticketAt > ticketLasts) this.#keep(found.ticket)
    } catch (thrown) {
      pause = lookAgainAfterTrouble
      if (thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 400)) {
        this.gone = true
        this.board = null
        this.tag = ''
      } else this.problem = reason(thrown)
    }
    if (!this.#ended && !document.hidden) this.#timer = setTimeout(() => void this.look(), pause)
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
    const early = this.#ticketAt + writingTakes - Date.now()
    if (early > 0) await new Promise((later) => setTimeout(later, early))
    const { key } = this
    const website = draft.website ? { website: draft.website } : {}
    const answer = await data(send({ key, ticket: this.#ticket, name: draft.name.trim(), ...website }))
    keepName(draft.name.trim())
    void this.look()
    return answer
  }
}

/** What a guest was called here last. */
export function keptName(): string {
  return localStorage.getItem(nameKey) ?? ''
}

function keepName(name: string): void {
  localStorage.setItem(nameKey, name)
}

/** One try to send something: the same when it is sent again, another when it has changed. */
export class Attempt {
  #of = ''
  #key = ''

  key(...said: string[]): string {
    const of = said.join('\u0000')
    if (of !== this.#of) {
      this.#of = of
      this.#key = randomId()
    }
    return this.#key
  }
}
