// The cards of a workspace's calendar: what the server last said of a window of
// days and of the cards without a date, with everything on top that was done
// here and is not answered yet.
import { api, ApiError, body, clientId, data, reason } from '../../api/client'
import { randomId } from '../../lib/id'
import { resolve, spanOf, type Due } from '../../state/due'
import { watch } from '../../state/live'
import { operation, send, type Operation } from '../../state/operations'
import { session } from '../../state/session.svelte'
import { dismissUndo, toast, undoToast } from '../../state/toasts.svelte'
import type { Card, DueInput } from '../../api/types'
import { everything } from '../profile/remote.svelte'
import { planCard, type PlanCard } from './card'

type Act = { key: string; cardId: string; at: string; operation: Operation }
type Undo = { text: string; operation: Operation }
export type Window = { from: string; to: string }

const trayPage = 50
const watchedMost = 20
/** How long others' changes are gathered before the calendar asks again, and the tray, whose search is dearer. */
const gather = { window: 600, tray: 5000 }
const retries = [1000, 2000, 4000, 8000, 15_000, 30_000]

const isUndated = (card: PlanCard | undefined) => !!card && !card.done && !card.dueDate && !card.startDate

export class CalendarStore {
  loading = $state(true)
  /** Why the window is not shown. */
  problem = $state.raw<ApiError | null>(null)
  /** The server does not answer; what is done here waits. */
  offline = $state(false)
  /** Whether more cards without a date follow those that are known. */
  trayMore = $state(false)
  trayLoading = $state(false)
  trayProblem = $state<string | null>(null)
  /** The cards assigned to the person; null until they are needed. */
  mine = $state.raw<ReadonlySet<string> | null>(null)

  #known = $state.raw<ReadonlyMap<string, PlanCard>>(new Map())
  #pending = $state.raw<readonly Act[]>([])
  #undos = $state.raw<readonly Undo[]>([])
  #undated = $state(0)
  #window: Window | null = null
  #trayQuery = ''
  #trayNext: string | undefined
  #turn = 0
  #trayTurn = 0
  /** Which cards were changed here, and when, counted in answers: an older answer says nothing about them. */
  #writes = 0
  #written = new Map<string, number>()
  #sending = false
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #timers = new Map<string, ReturnType<typeof setTimeout>>()
  #said: Undo | null = null

  constructor(
    readonly workspaceId: string,
    readonly timeZone: string,
  ) {}

  /** All known cards as the page shows them. */
  readonly cards: ReadonlyMap<string, PlanCard> = $derived.by(() => fold(this.#known, this.#pending))

  /** How many open cards wait for a date. */
  get undated(): number {
    const ids = new Set(this.#pending.map((p) => p.cardId))
    let count = this.#undated
    for (const id of ids) count += +isUndated(this.cards.get(id)) - +isUndated(this.#known.get(id))
    return Math.max(0, count)
  }

  get canUndo(): boolean {
    return this.#undos.length > 0
  }

  close(): void {
    clearTimeout(this.#retry)
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#turn++
    this.#trayTurn++
  }

  // -- what the server has --

  /** Shows a window of days, at most 92: at once what is known of it, then what the server answers. */
  async show(window: Window): Promise<void> {
    this.#window = window
    await this.reload()
  }

  async reload(): Promise<void> {
    const window = this.#window
    if (!window) return
    const turn = ++this.#turn
    const since = this.#writes
    this.loading = true
    try {
      const path = { workspaceId: this.workspaceId }
      const query = { ...window, timeZone: this.timeZone }
      const answer = await data(api.GET('/workspaces/{workspaceId}/calendar', { params: { path, query } }))
      if (turn !== this.#turn) return
      this.#put(answer.cards.map(planCard), since, (card) => {
        const span = spanOf(card, this.timeZone)
        return !!span && span.first <= window.to && span.last >= window.from
      })
      this.#undated = answer.undatedCount
      this.problem = null
    } catch (thrown) {
      if (turn === this.#turn) this.problem = asFault(thrown)
    } finally {
      if (turn === this.#turn) this.loading = false
    }
  }

  /** Loads the cards that wait for a date, by a search; the ones behind them with more. */
  async loadTray(query: string, more = false): Promise<void> {
    const turn = ++this.#trayTurn
    const since = this.#writes
    const cursor = more && query === this.#trayQuery ? this.#trayNext : undefined
    this.#trayQuery = query
    this.trayLoading = true
    try {
      const answer = await body(
        api.GET('/search', {
          params: { query: { q: query, workspaceId: this.workspaceId, view: 'compact', limit: trayPage, cursor } },
        }),
      )
      if (turn !== this.#trayTurn) return
      this.#put(answer.data.map(planCard), since, (card) => !cursor && isUndated(card))
      this.#trayNext = answer.nextCursor
      this.trayMore = !!answer.nextCursor
      this.trayProblem = null
    } catch (thrown) {
      if (turn === this.#trayTurn) this.trayProblem = reason(thrown)
    } finally {
      if (turn === this.#trayTurn) this.trayLoading = false
    }
  }

  async loadMine(): Promise<void> {
    try {
      const found = await everything((page) =>
        api.GET('/me/cards', { params: { query: { ...page, workspaceId: this.workspaceId, view: 'compact' } } }),
      )
      this.mine = new Set(found.map((c) => c.id))
    } catch (thrown) {
      this.mine ??= new Set()
      toast(reason(thrown), { tone: 'bad' })
    }
  }

  /** Takes an answer in: it says all about the cards that `within` holds true of. */
  #put(cards: readonly PlanCard[], since: number, within: (card: PlanCard) => boolean): void {
    const fresh = (id: string) => (this.#written.get(id) ?? 0) <= since
    const known = new Map([...this.#known].filter(([id, card]) => !within(card) || !fresh(id)))
    for (const card of cards) if (fresh(card.id)) known.set(card.id, card)
    this.#known = known
  }

  /** Asks again soon when somebody else changes one of the boards. */
  watch(boardIds: readonly string[]): () => void {
    const ends = boardIds.slice(0, watchedMost).map((id) =>
      watch(id, (message) => {
        if (message.kind === 'change' && message.change.client !== clientId) this.#changed()
        else if (message.kind === 'gone') this.#changed()
      }),
    )
    const back = () => {
      if (document.visibilityState === 'visible') this.#changed()
    }
    document.addEventListener('visibilitychange', back)
    addEventListener('online', this.#online)
    addEventListener('beforeunload', this.#leaving)
    return () => {
      for (const end of ends) end()
      document.removeEventListener('visibilitychange', back)
      removeEventListener('online', this.#online)
      removeEventListener('beforeunload', this.#leaving)
    }
  }

  #changed(): void {
    this.#soon('window', () => {
      void this.reload()
      if (this.mine) void this.loadMine()
    })
    if (this.#trayQuery) this.#soon('tray', () => void this.loadTray(this.#trayQuery))
  }

  /** Once, after a while, however often it was called until then. */
  #soon(what: keyof typeof gather, then: () => void): void {
    if (this.#timers.has(what)) return
    const timer = setTimeout(() => {
      this.#timers.delete(what)
      then()
    }, gather[what])
    this.#timers.set(what, timer)
  }

  // -- what is done here --

  /** Gives a card other dates, or none, and says so with a way back. */
  setDue(cardId: string, due: DueInput, before: DueInput, text: string): void {
    this.#act(dueOperation(cardId, due))
    this.#say({ text, operation: dueOperation(cardId, before) })
  }

  setDone(cardId: string, done: boolean, text: string): void {
    this.#act(operation('update_card', { cardId, done }))
    this.#say({ text, operation: operation('update_card', { cardId, done: !done }) })
  }

  /** Takes back the last thing that was done here. */
  undo(): void {
    const last = this.#undos.at(-1)
    if (!last) return
    this.#takeBack(last)
    toast(`Undone: ${last.text}`)
  }

  #takeBack(undo: Undo): void {
    if (!this.#undos.includes(undo)) return
    dismissUndo(undo)
    this.#undos = this.#undos.filter((u) => u !== undo)
    this.#act(undo.operation)
  }

  /** One line at a time: a card that is moved day by day says only where it is now. */
  #say(undo: Undo): void {
    this.#undos = [...this.#undos.slice(-49), undo]
    if (this.#said) dismissUndo(this.#said)
    this.#said = undo
    undoToast(undo, undo.text, () => this.#takeBack(undo))
  }

  #act(one: Operation): void {
    const { cardId } = one.input as { cardId: string }
    this.#pending = [...this.#pending, { key: randomId(), cardId, at: new Date().toISOString(), operation: one }]
    void this.#pump()
  }

  async #pump(): Promise<void> {
    if (this.#sending) return
    this.#sending = true
    while (this.#pending.length > 0) {
      const next = this.#pending[0]!
      const { id, name } = session.me
      const context = { boardId: this.cards.get(next.cardId)?.boardId ?? '', me: { id, name }, now: next.at }
      try {
        const answer = await send(next.operation, next.key, context)
        this.#attempt = 0
        this.offline = false
        this.#settle(next, planCard(answer as Card))
      } catch (thrown) {
        if (thrown instanceof ApiError && (thrown.unreachable || thrown.code === 'rate_limited')) {
          this.offline = thrown.unreachable
          clearTimeout(this.#retry)
          this.#retry = setTimeout(this.#online, retries[Math.min(this.#attempt++, retries.length - 1)])
          break // it waits, and so does what follows
        }
        this.#pending = this.#pending.filter((p) => p !== next)
        toast(reason(thrown), { tone: 'bad' })
      }
    }
    this.#sending = false
  }

  #settle(done: Act, card: PlanCard): void {
    this.#undated += +isUndated(card) - +isUndated(this.#known.get(card.id))
    this.#known = new Map(this.#known).set(card.id, card)
    this.#pending = this.#pending.filter((p) => p !== done)
    this.#written.set(card.id, ++this.#writes)
  }

  #online = (): void => {
    clearTimeout(this.#retry)
    void this.#pump()
  }

  #leaving = (event: BeforeUnloadEvent): void => {
    if (this.#pending.length > 0) event.preventDefault()
  }
}

function fold(known: ReadonlyMap<string, PlanCard>, pending: readonly Act[]): ReadonlyMap<string, PlanCard> {
  if (pending.length === 0) return known
  const cards = new Map(known)
  for (const { cardId, at, operation: one } of pending) {
    const card = cards.get(cardId)
    if (!card) continue
    if (one.kind === 'set_card_due' || one.kind === 'clear_card_due') {
      const due: Due = resolve(one.kind === 'set_card_due' ? one.input.due : {})
      cards.set(cardId, { ...card, ...due, updatedAt: at })
    } else if (one.kind === 'update_card' && one.input.done !== undefined) {
      cards.set(cardId, { ...card, done: one.input.done, updatedAt: at })
    }
  }
  return cards
}

function dueOperation(cardId: string, due: DueInput): Operation {
  if (!due.dueDate && !due.startDate) return operation('clear_card_due', { cardId })
  return operation('set_card_due', { cardId, due })
}

function asFault(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}
