// The cards of a saved filter while they are edited in place: each change is
// shown at once, sent in its turn, and taken back when the server refuses it.
import { api, body, clientId, data, reason } from '../../api/client'
import type { BoardDetail, BoardMember, Card, Label } from '../../api/types'
import { inputOf, resolve } from '../../state/due'
import { watch } from '../../state/live'
import { dismissUndo, toast, undoToast } from '../../state/toasts.svelte'
import { everything } from '../profile/remote.svelte'

export type Sort = '' | 'title' | '-title' | 'due' | '-due'
type Board = { detail: BoardDetail; members: BoardMember[] }
type Undo = { text: string; run: () => void }

const pageSize = 50
const watchedMost = 20
const undoMost = 50

export class FilterTable {
  cards = $state.raw<Card[] | null>(null)
  next = $state<string | undefined>()
  loading = $state(false)
  problem = $state<string | null>(null)
  /** Somebody types in a cell: what others do waits. */
  busy = $state(false)
  #boards = $state.raw<ReadonlyMap<string, Board>>(new Map())
  #asked = new Set<string>()
  #undo: Undo[] = []
  #undoing = false // what is done now takes something back, and is not taken back itself
  #turn = 0
  #sending = 0
  #line: Promise<unknown> = Promise.resolve()
  #filterId = ''
  #sort: Sort = ''

  board(id: string): Board | undefined {
    return this.#boards.get(id)
  }

  /** The boards that are shown, for the live stream. */
  get watched(): string {
    return [...new Set((this.cards ?? []).map((c) => c.boardId))].slice(0, watchedMost).sort().join(',')
  }

  canEdit(card: Card): boolean {
    const role = this.#boards.get(card.boardId)?.detail
    return !!role && !role.archivedAt && !card.archivedAt && (role.role === 'admin' || role.role === 'editor')
  }

  async load(filterId: string, sort: Sort): Promise<void> {
    if (filterId !== this.#filterId) {
      this.cards = null
      this.#undo = []
    }
    this.#filterId = filterId
    this.#sort = sort
    await this.#page(false)
  }

  more(): Promise<void> {
    return this.#page(true)
  }

  async #page(more: boolean): Promise<void> {
    const mine = ++this.#turn
    this.loading = true
    // What is shown stays as long when it is asked for again.
    const limit = more ? pageSize : Math.min(200, Math.max(pageSize, this.cards?.length ?? 0))
    try {
      const query = {
        view: 'compact' as const,
        limit,
        sort: this.#sort || undefined,
        cursor: more ? this.next : undefined,
      }
      const answer = await body(
        api.GET('/saved-filters/{filterId}/cards', { params: { path: { filterId: this.#filterId }, query } }),
      )
      if (mine !== this.#turn) return
      const before = more ? (this.cards ?? []) : []
      this.cards = [...before, ...answer.data.filter((c) => !before.some((b) => b.id === c.id))]
      this.next = answer.nextCursor
      this.problem = null
      for (const card of answer.data) void this.#ask(card.boardId)
    } catch (thrown) {
      if (mine === this.#turn) this.problem = reason(thrown)
    } finally {
      if (mine === this.#turn) this.loading = false
    }
  }

  /** Lists, labels and people of a board. */
  async #ask(boardId: string): Promise<void> {
    if (this.#asked.has(boardId)) return
    this.#asked.add(boardId)
    const params = { params: { path: { boardId } } }
    try {
      const [detail, members] = await Promise.all([
        data(api.GET('/boards/{boardId}', params)),
        everything((query) => api.GET('/boards/{boardId}/members', { params: { path: { boardId }, query } })),
      ])
      this.#boards = new Map(this.#boards).set(boardId, { detail, members })
    } catch {
      this.#asked.delete(boardId) // with the next page again
    }
  }

  /** Shows what others do, until the answer is called. */
  listen(boards: string): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        if (this.#sending > 0 || this.busy) soon()
        else void this.#page(false)
      }, 400)
    }
    const ends = (boards ? boards.split(',') : []).map((id) =>
      watch(id, (message) => {
        if (message.kind === 'gone') soon()
        if (message.kind !== 'change' || message.change.client === clientId) return
        if (!message.change.cardId) {
          this.#asked.delete(id)
          void this.#ask(id)
        }
        soon()
      }),
    )
    return () => {
      clearTimeout(timer)
      for (const end of ends) end()
    }
  }

  #put(id: string, to: Partial<Card>): void {
    this.cards = (this.cards ?? []).map((c) => (c.id === id ? { ...c, ...to } : c))
  }

  #edit(
    card: Card,
    to: Partial<Card>,
    send: () => Promise<Partial<Card> | undefined>,
    text: string,
    back: () => void,
  ): void {
    const before = Object.fromEntries(Object.keys(to).map((key) => [key, card[key as keyof Card]])) as Partial<Card>
    const undoable = !this.#undoing
    this.#turn++ // an answer on its way is older
    this.loading = false
    this.#put(card.id, to)
    this.#sending++
    const sent = this.#line.then(send)
    this.#line = sent.catch(() => undefined)
    sent
      .then((answer) => {
        if (answer) this.#put(card.id, answer)
        if (!undoable) {
          toast(`Undone: ${text}`)
          return
        }
        const undo = { text, run: back }
        this.#undo = [...this.#undo.slice(1 - undoMost), undo]
        undoToast(undo, text, () => this.#take(undo))
      })
      .catch((thrown: unknown) => {
        this.#put(card.id, before)
        toast(`“${card.title}” was not changed. ${reason(thrown)}`, { tone: 'bad' })
      })
      .finally(() => this.#sending--)
  }

  #take(undo: Undo): void {
    if (!this.#undo.includes(undo)) return
    dismissUndo(undo)
    this.#undo = this.#undo.filter((u) => u !== undo)
    this.#undoing = true
    undo.run()
    this.#undoing = false
  }

  undo(): void {
    const last = this.#undo.at(-1)
    if (last) this.#take(last)
    else toast('Nothing to undo.')
  }

  /** The card as it is shown now. */
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
      done ? `“${card.title}” is done` : `“${card.title}” is open again`,
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
      `“${card.title}” is in ${name}`,
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
      `${label.name || label.color} ${on ? 'taken off' : 'put on'} “${card.title}”`,
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
      `“${card.title}” is ${on ? 'no longer ' : ''}${person.name}’s`,
      () => this.togglePerson(this.#now(card), person),
    )
  }

  /** Another due day, at the time it had; '' takes it away. A start stays. */
  setDue(card: Card, date: string): void {
    if (date === (card.dueDate ?? '')) return
    const was = inputOf(card)
    const input = date
      ? { ...was, dueDate: date }
      : { startDate: was.startDate, startTime: was.startTime, timeZone: was.startTime ? was.timeZone : undefined }
    this.#setDates(card, input, date ? `“${card.title}” is due ${date}` : `“${card.title}” has no due date`, was)
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
      () => this.#setDates(this.#now(card), was, `The dates of “${card.title}” are as they were`, input),
    )
  }
}
