// The cards of a saved filter, which can be edited in place. Changes appear
// immediately, are sent in order, and are reverted if the server rejects them.
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
  /** Whether a cell is being edited. Live updates wait until the edit has ended. */
  busy = $state(false)
  #boards = $state.raw<ReadonlyMap<string, Board>>(new Map())
  #requested = new Set<string>()
  #history = new UndoHistory<{ text: string; run: () => void }>((step) => {
    this.#undoing = true
    step.run()
    this.#undoing = false
  })
  #undoing = false // whether the current edit undoes a step
  #generation = 0
  #sending = 0
  #queue: Promise<unknown> = Promise.resolve()
  #filterId = ''
  #sort: Sort = ''

  board(id: string): Board | undefined {
    return this.#boards.get(id)
  }

  /** The IDs of the boards to watch on the live stream, joined by commas. */
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
    await this.#loadPage(false)
  }

  loadMore(): Promise<void> {
    return this.#loadPage(true)
  }

  async #loadPage(more: boolean): Promise<void> {
    const current = ++this.#generation
    this.loading = true
    // When reloading, request as many cards as are shown: at least 50 and at most 200.
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
      const previous = more ? (this.cards ?? []) : []
      this.cards = [...previous, ...response.data.filter((c) => !previous.some((b) => b.id === c.id))]
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

  /** Reloads the cards when another client changes one of the boards. The returned function stops listening. */
  listen(boards: string): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined
    const schedule = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (this.#sending > 0 || this.busy) schedule()
        else void this.#loadPage(false)
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
      for (const unsubscribe of unsubscribers) unsubscribe()
    }
  }

  #patch(id: string, fields: Partial<Card>): void {
    this.cards = (this.cards ?? []).map((c) => (c.id === id ? { ...c, ...fields } : c))
  }

  /** Applies fields to a card and sends the change. `revert` undoes it. */
  #edit(
    card: Card,
    fields: Partial<Card>,
    send: () => Promise<Partial<Card> | undefined>,
    text: string,
    revert: () => void,
  ): void {
    const previous = Object.fromEntries(
      Object.keys(fields).map((key) => [key, card[key as keyof Card]]),
    ) as Partial<Card>
    const undoable = !this.#undoing
    this.#generation++ // ignore the responses to earlier requests
    this.loading = false
    this.#patch(card.id, fields)
    this.#sending++
    const sent = this.#queue.then(send)
    this.#queue = sent.catch(() => undefined)
    sent
      .then((result) => {
        if (result) this.#patch(card.id, result)
        if (!undoable) {
          toast(`Undone: ${text}`)
          return
        }
        const step = { text, run: revert }
        this.#history.add(step)
        this.#history.showToast(step)
      })
      .catch((thrown: unknown) => {
        this.#patch(card.id, previous)
        toast(`“${card.title}” was not changed. ${reason(thrown)}`, { tone: 'bad' })
      })
      .finally(() => this.#sending--)
  }

  undo(): void {
    const { last } = this.#history
    if (last) this.#history.revert(last)
    else toast('Nothing to undo.')
  }

  /** Returns the current version of a card. */
  #current(card: Card): Card {
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
      () => this.setTitle(this.#current(card), card.title),
    )
  }

  setDone(card: Card, done: boolean): void {
    const path = { cardId: card.id }
    this.#edit(
      card,
      { done },
      async () => void (await data(api.PATCH('/cards/{cardId}', { params: { path }, body: { done } }))),
      done ? `“${card.title}” marked as done` : `“${card.title}” marked as not done`,
      () => this.setDone(this.#current(card), !done),
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
      () => this.setList(this.#current(card), card.listId),
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
      () => this.toggleLabel(this.#current(card), label),
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
      () => this.togglePerson(this.#current(card), person),
    )
  }

  /** Sets the due date and keeps its time of day. An empty date removes it. The start date stays unchanged. */
  setDue(card: Card, date: string): void {
    if (date === (card.dueDate ?? '')) return
    const previous = inputOf(card)
    const input = date
      ? { ...previous, dueDate: date }
      : {
          startDate: previous.startDate,
          startTime: previous.startTime,
          timeZone: previous.startTime ? previous.timeZone : undefined,
        }
    this.#setDates(
      card,
      input,
      date ? `“${card.title}” is due ${date}` : `Due date removed from “${card.title}”`,
      previous,
    )
  }

  #setDates(card: Card, input: ReturnType<typeof inputOf>, text: string, previous: ReturnType<typeof inputOf>): void {
    const params = { params: { path: { cardId: card.id } } }
    const noDates = !input.dueDate && !input.startDate
    this.#edit(
      card,
      noDates ? { dueDate: null, dueAt: null, startDate: null, startAt: null, timeZone: null } : resolve(input),
      async () => {
        const { dueDate, dueAt, startDate, startAt, timeZone } = await data(
          noDates
            ? api.DELETE('/cards/{cardId}/due', params)
            : api.PUT('/cards/{cardId}/due', { ...params, body: input }),
        )
        return { dueDate, dueAt, startDate, startAt, timeZone }
      },
      text,
      () => this.#setDates(this.#current(card), previous, `Dates of “${card.title}” restored`, input),
    )
  }
}
