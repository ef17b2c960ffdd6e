// The cards of a saved filter, which can be edited in place. Changes appear immediately and
// are sent in order. A change that the server rejects disappears.
import { api, body, data, reason } from '../../api/client'
import type { BoardDetail, BoardMember, Card, Label, UserRef } from '../../api/types'
import { inputOf, resolve, withDates } from '../../state/due'
import { OperationQueue, type Pending } from '../../state/operationQueue.svelte'
import { cardIdOf, datesOperation, operation, send, type Operation } from '../../state/operations'
import { session } from '../../state/session.svelte'
import { toast } from '../../state/toasts.svelte'
import { UndoHistory } from '../../state/undoHistory.svelte'
import { loadAll } from '../../page/remote.svelte'

export type Sort = '' | 'title' | '-title' | 'due' | '-due'
type Board = { detail: BoardDetail; members: BoardMember[] }
/** `key` is the key of the change that the operation undoes. */
type UndoStep = { text: string; operation: Operation; key: string }

const pageSize = 50

export class FilterTable {
  next = $state<string | undefined>()
  loading = $state(false)
  problem = $state<string | null>(null)
  /** Whether the server is unreachable. Changes wait until it is reachable again. */
  offline = $state(false)
  /** Whether a cell is being edited. Live updates wait until the edit has ended. */
  busy = $state(false)
  #loaded = $state.raw<Card[] | null>(null)
  #boards = $state.raw<ReadonlyMap<string, Board>>(new Map())
  #requested = new Set<string>()
  #generation = 0
  /** The number of changes that the server has saved. */
  #saved = 0
  #filterId = ''
  #sort: Sort = ''

  readonly #queue = OperationQueue.of('filter', {
    send: ({ operation, key, at }) => send(operation, key, { boardId: '', me: session.me, now: at }),
    onSent: (_sent, result) => this.#confirm(result as Card),
    onRejected: ({ operation, key }, _dropped, thrown) => {
      this.#history.drop((step) => step.key === key)
      const card = this.cards?.find((c) => c.id === cardIdOf(operation)) // undefined if another filter was opened since
      toast(`${card ? `“${card.title}”` : 'A card'} was not changed. ${reason(thrown)}`, { tone: 'bad' })
    },
    onReachable: (reachable) => (this.offline = !reachable),
  })
  readonly #history = new UndoHistory<UndoStep>((step) => this.#queue.add([step.operation]))

  /** The loaded cards with the pending changes applied, or null until they have loaded. */
  readonly cards: readonly Card[] | null = $derived.by(() => {
    const { waiting } = this.#queue
    if (waiting.length === 0) return this.#loaded
    return this.#loaded?.map((card) => fold(card, waiting, this.#boards.get(card.boardId))) ?? null
  })

  open(): () => void {
    this.#queue.open()
    return () => this.#queue.close()
  }

  board(id: string): Board | undefined {
    return this.#boards.get(id)
  }

  /** Whether a reload has to wait until changes are saved or the edit has ended. */
  get isBusy(): boolean {
    return this.#queue.waiting.length > 0 || this.busy
  }

  canEdit(card: Card): boolean {
    const board = this.#boards.get(card.boardId)?.detail
    return !!board && !board.archivedAt && !card.archivedAt && (board.role === 'admin' || board.role === 'editor')
  }

  async load(filterId: string, sort: Sort): Promise<void> {
    if (filterId !== this.#filterId) {
      this.#loaded = null
      this.#history.drop(() => true)
    }
    this.#filterId = filterId
    this.#sort = sort
    await this.#loadPage(false)
  }

  loadMore(): Promise<void> {
    return this.#loadPage(true)
  }

  async #loadPage(more: boolean): Promise<void> {
    const current = ++this.#generation
    const saved = this.#saved
    this.loading = true
    // When reloading, request as many cards as are shown: at least 50 and at most 200.
    const limit = more ? pageSize : Math.min(200, Math.max(pageSize, this.#loaded?.length ?? 0))
    try {
      const query = {
        view: 'compact' as const,
        limit,
        sort: this.#sort || undefined,
        cursor: more ? this.next : undefined,
      }
      const response = await body(
        api.GET('/saved-filters/{filterId}/cards', { params: { path: { filterId: this.#filterId }, query } }),
      )
      if (current !== this.#generation) return
      if (saved !== this.#saved) return await this.#loadPage(more) // the response may lack a change
      const previous = more ? (this.#loaded ?? []) : []
      this.#loaded = [...previous, ...response.data.filter((c) => !previous.some((b) => b.id === c.id))]
      this.next = response.nextCursor
      this.problem = null
      for (const card of response.data) void this.#loadBoard(card.boardId)
    } catch (thrown) {
      if (current === this.#generation) this.problem = reason(thrown)
    } finally {
      if (current === this.#generation) this.loading = false
    }
  }

  /** Loads the lists, labels and people of a board. */
  async #loadBoard(boardId: string): Promise<void> {
    if (this.#requested.has(boardId)) return
    this.#requested.add(boardId)
    const params = { params: { path: { boardId } } }
    try {
      const [detail, members] = await Promise.all([
        data(api.GET('/boards/{boardId}', params)),
        loadAll((query) => api.GET('/boards/{boardId}/members', { params: { path: { boardId }, query } })),
      ])
      this.#boards = new Map(this.#boards).set(boardId, { detail, members })
    } catch {
      this.#requested.delete(boardId) // retry with the next page
    }
  }

  /** Reloads the cards, and the lists, labels and people of the given boards. */
  reload(boardIds: ReadonlySet<string>): void {
    for (const id of boardIds) {
      this.#requested.delete(id)
      void this.#loadBoard(id)
    }
    void this.#loadPage(false)
  }

  /** Applies an operation and shows a toast with an Undo button. */
  #change(operation: Operation, undo: Operation, text: string): void {
    const [key] = this.#queue.add([operation])
    const step = { text, operation: undo, key: key! }
    this.#history.add(step)
    this.#history.showToast(step)
  }

  #confirm(saved: Card): void {
    this.#saved++
    this.#loaded = this.#loaded?.map((c) => (c.id === saved.id ? saved : c)) ?? null
  }

  undo(): void {
    if (this.#history.canUndo) this.#history.undo()
    else toast('Nothing to undo.')
  }

  setTitle(card: Card, title: string): void {
    const text = title.trim()
    if (!text || text === card.title) return
    const set = (title: string) => operation('update_card', { cardId: card.id, title })
    this.#change(set(text), set(card.title), `Renamed to “${text}”`)
  }

  setDone(card: Card, done: boolean): void {
    const set = (done: boolean) => operation('update_card', { cardId: card.id, done })
    this.#change(set(done), set(!done), `“${card.title}” marked as ${done ? 'done' : 'not done'}`)
  }

  setList(card: Card, listId: string): void {
    if (listId === card.listId) return
    const name = this.board(card.boardId)?.detail.lists.find((l) => l.id === listId)?.name ?? 'another list'
    const move = (listId: string) => operation('move_card', { cardId: card.id, listId, position: 'bottom' })
    this.#change(move(listId), move(card.listId), `“${card.title}” moved to ${name}`)
  }

  toggleLabel(card: Card, { id, name, color }: Label): void {
    const on = card.labels.some((l) => l.id === id)
    const set = (on: boolean) => operation('set_card_labels', { cardId: card.id, [on ? 'add' : 'remove']: [id] })
    this.#change(set(!on), set(on), `${name || color} ${on ? 'removed from' : 'added to'} “${card.title}”`)
  }

  togglePerson(card: Card, { id, name }: UserRef): void {
    const on = card.assignees.some((a) => a.id === id)
    const set = (on: boolean) => operation('set_card_assignees', { cardId: card.id, [on ? 'add' : 'remove']: [id] })
    this.#change(set(!on), set(on), `${name} ${on ? 'unassigned from' : 'assigned to'} “${card.title}”`)
  }

  /** Sets the due date and keeps its time of day. An empty date removes it. The start date stays unchanged. */
  setDue(card: Card, date: string): void {
    if (date === (card.dueDate ?? '')) return
    const previous = inputOf(card)
    const due = withDates(card, { due: date ? { date, time: previous.dueTime } : null })
    const text = date ? `“${card.title}” is due ${date}` : `Due date removed from “${card.title}”`
    this.#change(datesOperation(card.id, due), datesOperation(card.id, previous), text)
  }
}

/** Returns a card with the pending operations on it applied. */
function fold(card: Card, pending: readonly Pending[], board: Board | undefined): Card {
  const own = pending.filter((p) => cardIdOf(p.operation) === card.id)
  return own.reduce((c, { operation }) => ({ ...c, ...changedFields(c, operation, board) }), card)
}

/** Returns the fields of a card that an operation changes, with their new values. */
function changedFields(card: Card, { kind, input }: Operation, board: Board | undefined): Partial<Card> {
  switch (kind) {
    case 'update_card': {
      const { title = card.title, done = card.done } = input
      return { title, done }
    }
    case 'move_card':
      return { listId: input.listId }
    case 'set_card_labels':
      return { labels: withMembers(card.labels, board?.detail.labels, input) }
    case 'set_card_assignees':
      return { assignees: withMembers(card.assignees, board?.members, input) }
    case 'set_card_due':
      return resolve(input.due)
    case 'clear_card_due':
      return resolve({})
    default:
      return {}
  }
}

/** Returns the items of a card after some of the board’s items were added and others were removed. */
function withMembers<T extends { id: string }>(
  items: T[],
  available: T[] = [],
  { add = [], remove = [] }: { add?: string[]; remove?: string[] },
): T[] {
  const rest = items.filter((item) => !add.includes(item.id) && !remove.includes(item.id))
  return [...rest, ...available.filter((item) => add.includes(item.id))]
}
