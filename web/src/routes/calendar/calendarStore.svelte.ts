// The cards of a workspace's calendar: the last server state of a range of days
// and of undated cards, with pending operations applied on top.
import { api, ApiError, body, clientId, data, reason } from '../../api/client'
import { resolve, spanOf, type Due } from '../../state/due'
import { watch } from '../../state/live'
import { OperationQueue, type Pending } from '../../state/operationQueue.svelte'
import { operation, send, type Operation } from '../../state/operations'
import { session } from '../../state/session.svelte'
import { dismissUndo, toast } from '../../state/toasts.svelte'
import { UndoHistory } from '../../state/undoHistory.svelte'
import type { Card, DueInput } from '../../api/types'
import { loadAll } from '../../page/remote.svelte'
import { toCalendarCard, type CalendarCard } from './calendarCard'

type UndoStep = { text: string; operation: Operation }
export type Window = { from: string; to: string }

const trayPage = 50
const maxWatched = 20
/** Delays in ms before changes by others reload the calendar and the tray, whose search is more expensive. */
const reloadDelay = { window: 600, tray: 5000 }

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
  #undated = $state(0)
  #window: Window | null = null
  #trayQuery = ''
  #trayNext: string | undefined
  #generation = 0
  #trayGeneration = 0
  /** The write count at which each card was changed here. Responses to older requests are ignored for it. */
  #writes = 0
  #written = new Map<string, number>()
  #timers = new Map<string, ReturnType<typeof setTimeout>>()
  #lastUndo: UndoStep | null = null

  readonly #queue = new OperationQueue({
    send: (pending) => this.#send(pending),
    onSent: (_sent, response) => this.#confirm(toCalendarCard(response as Card)),
    onRejected: (_rejected, _dropped, thrown) => toast(reason(thrown), { tone: 'bad' }),
    onReachable: (reachable) => (this.offline = !reachable),
  })

  readonly history = new UndoHistory<UndoStep>((step) => this.#queue.add([step.operation]))

  constructor(
    readonly workspaceId: string,
    readonly timeZone: string,
  ) {}

  /** All loaded cards with pending operations applied. */
  readonly cards: ReadonlyMap<string, CalendarCard> = $derived.by(() => fold(this.#known, this.#queue.waiting))

  /** The number of open cards without a date. */
  get undated(): number {
    const ids = new Set(this.#queue.waiting.map((p) => cardIdOf(p.operation)))
    let count = this.#undated
    for (const id of ids) count += +isUndated(this.cards.get(id)) - +isUndated(this.#known.get(id))
    return Math.max(0, count)
  }

  open(): void {
    this.#queue.open()
  }

  close(): void {
    this.#queue.close()
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
    const unsubscribers = boardIds.slice(0, maxWatched).map((id) =>
      watch(id, (message) => {
        if (message.kind === 'change' && message.change.client !== clientId) this.#changed()
        else if (message.kind === 'gone') this.#changed()
      }),
    )
    const back = () => {
      if (document.visibilityState === 'visible') this.#changed()
    }
    document.addEventListener('visibilitychange', back)
    return () => {
      for (const end of unsubscribers) end()
      document.removeEventListener('visibilitychange', back)
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
    this.#queue.add([dueOperation(cardId, due)])
    this.#showUndo({ text, operation: dueOperation(cardId, before) })
  }

  setDone(cardId: string, done: boolean, text: string): void {
    this.#queue.add([operation('update_card', { cardId, done })])
    this.#showUndo({ text, operation: operation('update_card', { cardId, done: !done }) })
  }

  /** Shows one toast at a time, so that moving a card day by day shows only its latest date. */
  #showUndo(step: UndoStep): void {
    this.history.add(step)
    if (this.#lastUndo) dismissUndo(this.#lastUndo)
    this.#lastUndo = step
    this.history.showToast(step)
  }

  #send({ operation: one, key, at }: Pending): Promise<unknown> {
    const { id, name } = session.me
    return send(one, key, { boardId: this.cards.get(cardIdOf(one))?.boardId ?? '', me: { id, name }, now: at })
  }

  #confirm(card: CalendarCard): void {
    this.#undated += +isUndated(card) - +isUndated(this.#known.get(card.id))
    this.#known = new Map(this.#known).set(card.id, card)
    this.#written.set(card.id, ++this.#writes)
  }
}

/** Returns the card that an operation of the calendar changes. */
function cardIdOf(one: Operation): string {
  return (one.input as { cardId: string }).cardId
}

function fold(
  known: ReadonlyMap<string, CalendarCard>,
  pending: readonly Pending[],
): ReadonlyMap<string, CalendarCard> {
  if (pending.length === 0) return known
  const cards = new Map(known)
  for (const { at, operation: one } of pending) {
    const cardId = cardIdOf(one)
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
