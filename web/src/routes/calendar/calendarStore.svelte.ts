// The cards of a workspace's calendar: the server state of a range of days and of
// undated cards, with the pending operations applied.
import { api, ApiError, body, reason } from '../../api/client'
import { resolve, spanOf, type Due } from '../../state/due'
import { OperationQueue, type Pending } from '../../state/operationQueue.svelte'
import { cardIdOf, datesOperation, operation, send, type Operation } from '../../state/operations'
import { session } from '../../state/session.svelte'
import { dismissUndo, toast } from '../../state/toasts.svelte'
import { UndoHistory } from '../../state/undoHistory.svelte'
import type { Card, DueInput } from '../../api/types'
import { loadAll } from '../../page/remote.svelte'
import { toCalendarCard, type CalendarCard } from './calendarCard'

type UndoStep = { text: string; operation: Operation }
/** An inclusive range of days. */
export type DateRange = { from: string; to: string }

const trayPage = 50

const isUndated = (card: CalendarCard | undefined) => !!card && !card.done && !card.dueDate && !card.startDate

export class CalendarStore {
  loading = $state(true)
  /** The error if the calendar could not be loaded. */
  problem = $state.raw<ApiError | null>(null)
  /** Whether the server is unreachable. Operations wait until it is reachable again. */
  offline = $state(false)
  /** Whether there are undated cards that are not loaded. */
  trayMore = $state(false)
  trayLoading = $state(false)
  trayProblem = $state<string | null>(null)
  /** IDs of the cards assigned to the user, or null until they have loaded. */
  mine = $state.raw<ReadonlySet<string> | null>(null)

  #known = $state.raw<ReadonlyMap<string, CalendarCard>>(new Map())
  #undated = $state(0)
  #range: DateRange | null = null
  #trayQuery = ''
  #trayNext: string | undefined
  #generation = 0
  #trayGeneration = 0
  /** The number of card changes that this page has saved. */
  #writes = 0
  /** The value of #writes after each card was last saved. Responses to earlier requests do not overwrite the card. */
  #written = new Map<string, number>()
  #lastUndo: UndoStep | null = null

  readonly #queue: OperationQueue
  readonly history = new UndoHistory<UndoStep>((step) => this.#queue.add([step.operation]))

  constructor(
    readonly workspaceId: string,
    readonly timeZone: string,
  ) {
    this.#queue = OperationQueue.of(`calendar ${workspaceId}`, {
      send: (pending) => this.#send(pending),
      onSent: (_sent, response) => this.#confirm(toCalendarCard(response as Card)),
      onRejected: (_rejected, _dropped, thrown) => toast(reason(thrown), { tone: 'bad' }),
      onReachable: (reachable) => (this.offline = !reachable),
    })
  }

  /** All loaded cards, by ID, with the pending operations applied. */
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
    this.#generation++
    this.#trayGeneration++
  }

  // -- server state --

  /** Loads a range of at most 92 days. Cards that are already loaded stay visible. */
  async show(range: DateRange): Promise<void> {
    this.#range = range
    await this.reload()
  }

  async reload(): Promise<void> {
    const range = this.#range
    if (!range) return
    const generation = ++this.#generation
    const since = this.#writes
    this.loading = true
    try {
      const path = { workspaceId: this.workspaceId }
      const query = { ...range, timeZone: this.timeZone }
      const all: CalendarCard[] = []
      let cursor: string | undefined
      do {
        // The cards of a large workspace span several pages. Show each page as soon as it has loaded.
        const page = { ...query, cursor }
        const response = await body(api.GET('/workspaces/{workspaceId}/calendar', { params: { path, query: page } }))
        if (generation !== this.#generation) return
        const cards = response.data.cards.map(toCalendarCard)
        all.push(...cards)
        cursor = response.nextCursor
        if (cursor) this.#merge(cards, since, () => false)
        this.#undated = response.data.undatedCount
      } while (cursor)
      this.#merge(all, since, (card) => {
        const span = spanOf(card, this.timeZone)
        return !!span && span.first <= range.to && span.last >= range.from
      })
      this.problem = null
    } catch (thrown) {
      if (generation === this.#generation) this.problem = asApiError(thrown)
    } finally {
      if (generation === this.#generation) this.loading = false
    }
  }

  /** Loads the undated cards that match a search query, or their next page. */
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
      const cards = await loadAll((page) =>
        api.GET('/me/cards', { params: { query: { ...page, workspaceId: this.workspaceId, view: 'compact' } } }),
      )
      this.mine = new Set(cards.map((c) => c.id))
    } catch (thrown) {
      this.mine ??= new Set()
      toast(reason(thrown), { tone: 'bad' })
    }
  }

  /**
   * Merges the cards of a response. Removes the loaded cards that are missing from the response
   * and for which `within` returns true. Cards saved after `since` stay unchanged.
   */
  #merge(cards: readonly CalendarCard[], since: number, within: (card: CalendarCard) => boolean): void {
    const isUnchanged = (id: string) => (this.#written.get(id) ?? 0) <= since
    const known = new Map([...this.#known].filter(([id, card]) => !within(card) || !isUnchanged(id)))
    for (const card of cards) if (isUnchanged(card.id)) known.set(card.id, card)
    this.#known = known
  }

  /** Reloads the range and the user’s cards, if they are shown. */
  reloadDates(): void {
    void this.reload()
    if (this.mine) void this.loadMine()
  }

  reloadTray(): void {
    if (this.#trayQuery) void this.loadTray(this.#trayQuery)
  }

  // -- operations --

  /** Sets or clears the dates of a card, and shows a toast with an Undo button. */
  setDue(cardId: string, due: DueInput, previous: DueInput, text: string): void {
    this.#queue.add([datesOperation(cardId, due)])
    this.#showUndo({ text, operation: datesOperation(cardId, previous) })
  }

  setDone(cardId: string, done: boolean, text: string): void {
    this.#queue.add([operation('update_card', { cardId, done })])
    this.#showUndo({ text, operation: operation('update_card', { cardId, done: !done }) })
  }

  /** Shows an Undo toast and dismisses the previous one, so that moving a card day by day shows only the latest date. */
  #showUndo(step: UndoStep): void {
    this.history.add(step)
    if (this.#lastUndo) dismissUndo(this.#lastUndo)
    this.#lastUndo = step
    this.history.showToast(step)
  }

  #send({ operation, key, at }: Pending): Promise<unknown> {
    const { id, name } = session.me
    return send(operation, key, {
      boardId: this.cards.get(cardIdOf(operation))?.boardId ?? '',
      me: { id, name },
      now: at,
    })
  }

  #confirm(card: CalendarCard): void {
    this.#undated += +isUndated(card) - +isUndated(this.#known.get(card.id))
    this.#known = new Map(this.#known).set(card.id, card)
    this.#written.set(card.id, ++this.#writes)
  }
}

/** Returns the cards with pending operations applied. */
function fold(
  known: ReadonlyMap<string, CalendarCard>,
  pending: readonly Pending[],
): ReadonlyMap<string, CalendarCard> {
  if (pending.length === 0) return known
  const cards = new Map(known)
  for (const { at, operation } of pending) {
    const cardId = cardIdOf(operation)
    const card = cards.get(cardId)
    if (!card) continue
    if (operation.kind === 'set_card_due' || operation.kind === 'clear_card_due') {
      const due: Due = resolve(operation.kind === 'set_card_due' ? operation.input.due : {})
      cards.set(cardId, { ...card, ...due, updatedAt: at })
    } else if (operation.kind === 'update_card' && operation.input.done !== undefined) {
      cards.set(cardId, { ...card, done: operation.input.done, updatedAt: at })
    }
  }
  return cards
}

function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  throw thrown
}
