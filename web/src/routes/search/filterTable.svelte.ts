// The cards of a saved filter, edited in place. Each change shows immediately,
// is sent in order, and is reverted if the server rejects it.
import { api, body, clientId, data, reason } from '../../api/client'
import type { BoardDetail, BoardMember, Card, Label } from '../../api/types'
import { inputOf, resolve } from '../../state/due'
import { watch } from '../../state/live'
import { toast } from '../../state/toasts.svelte'
import { UndoHistory } from '../../state/undoHistory.svelte'
import { loadAll } from '../../page/remote.svelte'

export type Sort = '' | 'title' | '-title' | 'due' | '-due'
type Board = { detail: BoardDetail; members: BoardMember[] }

const pageSize = 50
const maxWatched = 20

export class FilterTable {
  cards = $state.raw<Card[] | null>(null)
  next = $state<string | undefined>()
  loading = $state(false)
  problem = $state<string | null>(null)
  /** Whether a cell is being edited. Live reloads wait until it is done. */
  busy = $state(false)
  #boards = $state.raw<ReadonlyMap<string, Board>>(new Map())
  #requested = new Set<string>()
  #history = new UndoHistory<{ text: string; run: () => void }>((step) => {
    this.#undoing = true
    step.run()
    this.#undoing = false
  })
  #undoing = false // the current edit is itself an undo
  #generation = 0
  #sending = 0
  #queue: Promise<unknown> = Promise.resolve()
  #filterId = ''
  #sort: Sort = ''

  board(id: string): Board | undefined {
    return this.#boards.get(id)
  }

  /** The boards of the cards, for the live stream. */
  get watched(): string {
    return [...new Set((this.cards ?? []).map((c) => c.boardId))].slice(0, maxWatched).sort().join(',')
  }

  canEdit(card: Card): boolean {
    const board = this.#boards.get(card.boardId)?.detail
    return !!board && !board.archivedAt && !card.archivedAt && (board.role === 'admin' || board.role === 'editor')
  }

  async load(filterId: string, sort: Sort): Promise<void> {
    if (filterId !== this.#filterId) {
      this.cards = null
      this.#history.drop(() => true)
    }
    this.#filterId = filterId
    this.#sort = sort
    await this.#page(false)
  }

  more(): Promise<void> {
    return this.#page(true)
  }

  async #page(more: boolean): Promise<void> {
    const current = ++this.#generation
    this.loading = true
    // Reload as many cards as are shown.
    const limit = more ? pageSize : Math.min(200, Math.max(pageSize, this.cards?.length ?? 0))
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
      const before = more ? (this.cards ?? []) : []
      this.cards = [...before, ...response.data.filter((c) => !before.some((b) => b.id === c.id))]
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
      this.#requested.delete(boardId) // try again with the next page
    }
  }

  /** Reloads when someone else changes one of the boards. The returned function stops it. */
  listen(boards: string): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined
    const schedule = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (this.#sending > 0 || this.busy) schedule()
        else void this.#page(false)
      }, 400)
    }
    const unsubscribers = (boards ? boards.split(',') : []).map((id) =>
      watch(id, (message) => {
        if (message.kind === 'gone') schedule()
        if (message.kind !== 'change' || message.change.client === clientId) return
        if (!message.change.cardId) {
          this.#requested.delete(id)
          void this.#loadBoard(id)
        }
        schedule()
      }),
    )
    return () => {
      clearTimeout(timer)
      for (const end of unsubscribers) end()
    }
  }

  #patch(id: string, to: Partial<Card>): void {
    this.cards = (this.cards ?? []).map((c) => (c.id === id ? { ...c, ...to } : c))
  }

  #edit(
    card: Card,
    to: Partial<Card>,
    send: () => Promise<Partial<Card> | undefined>,
    text: string,
    revert: () => void,
  ): void {
    const before = Object.fromEntries(Object.keys(to).map((key) => [key, card[key as keyof Card]])) as Partial<Card>
    const undoable = !this.#undoing
    this.#generation++ // ignore responses still on their way
    this.loading = false
    this.#patch(card.id, to)
    this.#sending++
    const sent = this.#queue.then(send)
    this.#queue = sent.catch(() => undefined)
    sent
      .then((fields) => {
        if (fields) this.#patch(card.id, fields)
        if (!undoable) {
          toast(`Undone: ${text}`)
          return
        }
        const step = { text, run: revert }
        this.#history.add(step)
        this.#history.showToast(step)
      })
      .catch((thrown: unknown) => {
        this.#patch(card.id, before)
        toast(`“${card.title}” was not changed. ${reason(thrown)}`, { tone: 'bad' })
      })
      .finally(() => this.#sending--)
  }

  undo(): void {
    const { last } = this.#history
    if (last) this.#history.revert(last)
    else toast('Nothing to undo.')
  }

  /** Returns the card as it is shown now. */
  #now(card: Card): Card {
    return this.cards?.find((c) => c.id === card.id) ?? card
  }

  setTitle(card: Card, title: string): void {
    const text = title.trim()
    if (!text || text === card.title) return
    const path = { cardId: card.id }
    this.#edit(
      card,
      { title: text },
      async () => void (await data(api.PATCH('/cards/{cardId}', { params: { path }, body: { title: text } }))),
      `Renamed to “${text}”`,
      () => this.setTitle(this.#now(card), card.title),
    )
  }

  setDone(card: Card, done: boolean): void {
    const path = { cardId: card.id }
    this.#edit(
      card,
      { done },
      async () => void (await data(api.PATCH('/cards/{cardId}', { params: { path }, body: { done } }))),
      done ? `“${card.title}” marked as done` : `“${card.title}” marked as not done`,
      () => this.setDone(this.#now(card), !done),
    )
  }

  setList(card: Card, listId: string): void {
    if (listId === card.listId) return
    const name = this.board(card.boardId)?.detail.lists.find((l) => l.id === listId)?.name ?? 'another list'
    const path = { cardId: card.id }
    this.#edit(
      card,
      { listId },
      async () => void (await data(api.POST('/cards/{cardId}/move', { params: { path }, body: { listId } }))),
      `“${card.title}” moved to ${name}`,
      () => this.setList(this.#now(card), card.listId),
    )
  }

  toggleLabel(card: Card, label: Pick<Label, 'id' | 'name' | 'color'>): void {
    const on = card.labels.some((l) => l.id === label.id)
    const labels = on
      ? card.labels.filter((l) => l.id !== label.id)
      : [...card.labels, { id: label.id, name: label.name, color: label.color }]
    const change = on ? { remove: [label.id] } : { add: [label.id] }
    const path = { cardId: card.id }
    this.#edit(
      card,
      { labels },
      async () => void (await data(api.PATCH('/cards/{cardId}/labels', { params: { path }, body: change }))),
      `${label.name || label.color} ${on ? 'removed from' : 'added to'} “${card.title}”`,
      () => this.toggleLabel(this.#now(card), label),
    )
  }

  togglePerson(card: Card, person: { id: string; name: string }): void {
    const on = card.assignees.some((a) => a.id === person.id)
    const assignees = on
      ? card.assignees.filter((a) => a.id !== person.id)
      : [...card.assignees, { id: person.id, name: person.name }]
    const change = on ? { remove: [person.id] } : { add: [person.id] }
    const path = { cardId: card.id }
    this.#edit(
      card,
      { assignees },
      async () => void (await data(api.PATCH('/cards/{cardId}/assignees', { params: { path }, body: change }))),
      `${person.name} ${on ? 'unassigned from' : 'assigned to'} “${card.title}”`,
      () => this.togglePerson(this.#now(card), person),
    )
  }

  /** Sets the due date and keeps its time of day, or removes it if date is ''. The start date stays. */
  setDue(card: Card, date: string): void {
    if (date === (card.dueDate ?? '')) return
    const was = inputOf(card)
    const input = date
      ? { ...was, dueDate: date }
      : { startDate: was.startDate, startTime: was.startTime, timeZone: was.startTime ? was.timeZone : undefined }
    this.#setDates(card, input, date ? `“${card.title}” is due ${date}` : `Due date removed from “${card.title}”`, was)
  }

  #setDates(card: Card, input: ReturnType<typeof inputOf>, text: string, was: ReturnType<typeof inputOf>): void {
    const params = { params: { path: { cardId: card.id } } }
    const none = !input.dueDate && !input.startDate
    this.#edit(
      card,
      none ? { dueDate: null, dueAt: null, startDate: null, startAt: null, timeZone: null } : resolve(input),
      async () => {
        const { dueDate, dueAt, startDate, startAt, timeZone } = await data(
          none ? api.DELETE('/cards/{cardId}/due', params) : api.PUT('/cards/{cardId}/due', { ...params, body: input }),
        )
        return { dueDate, dueAt, startDate, startAt, timeZone }
      },
      text,
      () => this.#setDates(this.#now(card), was, `Dates of “${card.title}” restored`, input),
    )
  }
}
