// The cards of a workspace's calendar: the last server state of a range of days
// and of undated cards, with pending operations applied on top.
import { api, ApiError, body, clientId, data, reason } from '../../api/client'
import { randomId } from '../../lib/id'
import { resolve, spanOf, type Due } from '../../state/due'
import { watch } from '../../state/live'
import { operation, send, type Operation } from '../../state/operations'
import { session } from '../../state/session.svelte'
import { dismissUndo, toast, undoToast } from '../../state/toasts.svelte'
import type { Card, DueInput } from '../../api/types'
import { loadAll } from '../profile/remote.svelte'
import { toCalendarCard, type CalendarCard } from './calendarCard'

type Pending = { key: string; cardId: string; at: string; operation: Operation }
type Undo = { text: string; operation: Operation }
export type Window = { from: string; to: string }

const trayPage = 50
const watchedMost = 20
/** Delays in ms before changes by others reload the calendar and the tray, whose search is more expensive. */
const reloadDelay = { window: 600, tray: 5000 }
const retries = [1000, 2000, 4000, 8000, 15_000, 30_000]

const isUndated = (card: CalendarCard | undefined) => !!card && !card.done && !card.dueDate && !card.startDate

export class CalendarStore {
  loading = $state(true)
  /** Why the calendar could not be loaded. */
  problem = $state.raw<ApiError | null>(null)
  /** Whether the server is unreachable. Operations then wait. */
  offline = $state(false)
  /** Whether there are more undated cards than are loaded. */
  trayMore = $state(false)
  trayLoading = $state(false)
  trayProblem = $state<string | null>(null)
  /** The cards assigned to the person, or null until they are needed. */
  mine = $state.raw<ReadonlySet<string> | null>(null)

  #known = $state.raw<ReadonlyMap<string, CalendarCard>>(new Map())
  #pending = $state.raw<readonly Pending[]>([])
  #undos = $state.raw<readonly Undo[]>([])
  #undated = $state(0)
  #window: Window | null = null
  #trayQuery = ''
  #trayNext: string | undefined
  #generation = 0
  #trayGeneration = 0
  /** The write count at which each card was changed here. Responses to older requests are ignored for it. */
  #writes = 0
  #written = new Map<string, number>()
  #sending = false
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #timers = new Map<string, ReturnType<typeof setTimeout>>()
  #lastUndo: Undo | null = null

  constructor(
    readonly workspaceId: string,
    readonly timeZone: string,
  ) {}

  /** All loaded cards with pending operations applied. */
  readonly cards: ReadonlyMap<string, CalendarCard> = $derived.by(() => fold(this.#known, this.#pending))

  /** The number of open cards without a date. */
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
    this.#generation++
    this.#trayGeneration++
  }

  // -- server state --

  /** Shows a range of at most 92 days. Loaded cards show immediately. */
  async show(window: Window): Promise<void> {
    this.#window = window
    await this.reload()
  }

  async reload(): Promise<void> {
    const window = this.#window
    if (!window) return
    const generation = ++this.#generation
    const since = this.#writes
    this.loading = true
    try {
      const path = { workspaceId: this.workspaceId }
      const query = { ...window, timeZone: this.timeZone }
      const response = await data(api.GET('/workspaces/{workspaceId}/calendar', { params: { path, query } }))
      if (generation !== this.#generation) return
      this.#merge(response.cards.map(toCalendarCard), since, (card) => {
        const span = spanOf(card, this.timeZone)
        return !!span && span.first <= window.to && span.last >= window.from
      })
      this.#undated = response.undatedCount
      this.problem = null
    } catch (thrown) {
      if (generation === this.#generation) this.problem = asApiError(thrown)
    } finally {
      if (generation === this.#generation) this.loading = false
    }
  }

  /** Loads the undated cards by a search, or the next page of them. */
  async loadTray(query: string, more = false): Promise<void> {
    const generation = ++this.#trayGeneration
    const since = this.#writes
    const cursor = more && query === this.#trayQuery ? this.#trayNext : undefined
    this.#trayQuery = query
    this.trayLoading = true
    try {
      const response = await body(
        api.GET('/search', {
          params: { query: { q: query, workspaceId: this.workspaceId, view: 'compact', limit: trayPage, cursor } },
        }),
      )
      if (generation !== this.#trayGeneration) return
      this.#merge(response.data.map(toCalendarCard), since, (card) => !cursor && isUndated(card))
      this.#trayNext = response.nextCursor
      this.trayMore = !!response.nextCursor
      this.trayProblem = null
    } catch (thrown) {
      if (generation === this.#trayGeneration) this.trayProblem = reason(thrown)
    } finally {
      if (generation === this.#trayGeneration) this.trayLoading = false
    }
  }

  async loadMine(): Promise<void> {
    try {
      const found = await loadAll((page) =>
        api.GET('/me/cards', { params: { query: { ...page, workspaceId: this.workspaceId, view: 'compact' } } }),
      )
      this.mine = new Set(found.map((c) => c.id))
    } catch (thrown) {
      this.mine ??= new Set()
      toast(reason(thrown), { tone: 'bad' })
    }
  }

  /** Applies a response, which is complete for all cards that `within` accepts. */
  #merge(cards: readonly CalendarCard[], since: number, within: (card: CalendarCard) => boolean): void {
    const fresh = (id: string) => (this.#written.get(id) ?? 0) <= since
    const known = new Map([...this.#known].filter(([id, card]) => !within(card) || !fresh(id)))
    for (const card of cards) if (fresh(card.id)) known.set(card.id, card)
    this.#known = known
  }

  /** Reloads shortly after someone else changes one of the boards. */
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
    this.#schedule('window', () => {
      void this.reload()
      if (this.mine) void this.loadMine()
    })
    if (this.#trayQuery) this.#schedule('tray', () => void this.loadTray(this.#trayQuery))
  }

  /** Runs `then` once after the delay, however often it is called until then. */
  #schedule(what: keyof typeof reloadDelay, then: () => void): void {
    if (this.#timers.has(what)) return
    const timer = setTimeout(() => {
      this.#timers.delete(what)
      then()
    }, reloadDelay[what])
    this.#timers.set(what, timer)
  }

  // -- operations --

  /** Sets or clears the dates of a card, and shows a toast with Undo. */
  setDue(cardId: string, due: DueInput, before: DueInput, text: string): void {
    this.#enqueue(dueOperation(cardId, due))
    this.#showUndo({ text, operation: dueOperation(cardId, before) })
  }

  setDone(cardId: string, done: boolean, text: string): void {
    this.#enqueue(operation('update_card', { cardId, done }))
    this.#showUndo({ text, operation: operation('update_card', { cardId, done: !done }) })
  }

  /** Undoes the last operation. */
  undo(): void {
    const last = this.#undos.at(-1)
    if (!last) return
    this.#revert(last)
    toast(`Undone: ${last.text}`)
  }

  #revert(undo: Undo): void {
    if (!this.#undos.includes(undo)) return
    dismissUndo(undo)
    this.#undos = this.#undos.filter((u) => u !== undo)
    this.#enqueue(undo.operation)
  }

  /** Shows one toast at a time, so that moving a card day by day shows only its latest date. */
  #showUndo(undo: Undo): void {
    this.#undos = [...this.#undos.slice(-49), undo]
    if (this.#lastUndo) dismissUndo(this.#lastUndo)
    this.#lastUndo = undo
    undoToast(undo, undo.text, () => this.#revert(undo))
  }

  #enqueue(one: Operation): void {
    const { cardId } = one.input as { cardId: string }
    this.#pending = [...this.#pending, { key: randomId(), cardId, at: new Date().toISOString(), operation: one }]
    void this.#dispatch()
  }

  async #dispatch(): Promise<void> {
    if (this.#sending) return
    this.#sending = true
    while (this.#pending.length > 0) {
      const next = this.#pending[0]!
      const { id, name } = session.me
      const context = { boardId: this.cards.get(next.cardId)?.boardId ?? '', me: { id, name }, now: next.at }
      try {
        const response = await send(next.operation, next.key, context)
        this.#attempt = 0
        this.offline = false
        this.#confirm(next, toCalendarCard(response as Card))
      } catch (thrown) {
        if (thrown instanceof ApiError && (thrown.unreachable || thrown.code === 'rate_limited')) {
          this.offline = thrown.unreachable
          clearTimeout(this.#retry)
          this.#retry = setTimeout(this.#online, retries[Math.min(this.#attempt++, retries.length - 1)])
          break // wait, and keep the order of the following operations
        }
        this.#pending = this.#pending.filter((p) => p !== next)
        toast(reason(thrown), { tone: 'bad' })
      }
    }
    this.#sending = false
  }

  #confirm(done: Pending, card: CalendarCard): void {
    this.#undated += +isUndated(card) - +isUndated(this.#known.get(card.id))
    this.#known = new Map(this.#known).set(card.id, card)
    this.#pending = this.#pending.filter((p) => p !== done)
    this.#written.set(card.id, ++this.#writes)
  }

  #online = (): void => {
    clearTimeout(this.#retry)
    void this.#dispatch()
  }

  #leaving = (event: BeforeUnloadEvent): void => {
    if (this.#pending.length > 0) event.preventDefault()
  }
}

function fold(
  known: ReadonlyMap<string, CalendarCard>,
  pending: readonly Pending[],
): ReadonlyMap<string, CalendarCard> {
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

function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}
