// What one board page knows besides the board: where the focus is, what is
// selected, filtered, being written; and the acts that keys and menus share.
import { getContext, setContext, tick } from 'svelte'
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import type { Card, LabelColor, Position } from '../../api/types'
import { countOf, emptyFilter, passes, readFilter, writeFilter, type Filter } from '../../lib/filter'
import { temporaryId } from '../../lib/id'
import { address, go } from '../../lib/router.svelte'
import { positionOf, type BoardData } from '../../state/board-data'
import { operation, type BoardStore } from '../../state/board.svelte'
import { inputOf } from '../../state/due'
import type { Operation } from '../../state/operations'
import { session } from '../../state/session.svelte'
import { toast } from '../../state/toasts.svelte'

export type Picker = { kind: 'labels' | 'people' | 'due' | 'move'; cards: string[]; anchor: Element }
export type Slot = { listId: string; before: string | null }

const pageSize = 25
/** How many cards of a list are painted first; the rest of its page follows. */
const firstSize = Math.min(pageSize, Math.ceil(innerHeight / 72))
const columnStep = 292 // pixels from one list to the next
const context = Symbol('board page')

export class BoardPage {
  focused = $state<string | null>(null)
  selected = new SvelteSet<string>()
  /** The list that a new card is being written for, and where in it. */
  composing = $state.raw<{ listId: string; position: Position } | null>(null)
  editing = $state<string | null>(null)
  picker = $state.raw<Picker | null>(null)
  filtering = $state(false)
  helping = $state(false)
  /** Cards or a list under way, and where they would land. */
  dragged = $state.raw<ReadonlySet<string>>(new Set())
  draggedHeight = $state(0)
  slot = $state.raw<Slot | null>(null)
  draggedList = $state<string | null>(null)
  listSlot = $state.raw<{ before: string | null } | null>(null)
  collapsed = new SvelteSet<string>()
  /** The lists whose cards are mounted, */
  mounted = new SvelteSet<string>()
  /** and how many of each. */
  limits = new SvelteMap<string, number>()
  now = $state.raw(new Date())

  readonly filter: Filter = $derived(readFilter(address.query))
  readonly filtered: boolean = $derived(countOf(this.filter) > 0)
  readonly #orders = new Map<
    string,
    { ids: readonly string[]; cards: BoardData['cards']; filter: Filter; out: readonly string[] }
  >()

  constructor(readonly store: BoardStore) {
    const stored = localStorage.getItem(this.#collapsedKey)
    for (const id of stored ? stored.split(',') : []) this.collapsed.add(id)
    store.onRenamed((from, to) => {
      if (this.focused === from) this.focused = to
      if (this.editing === from) this.editing = to
      if (this.selected.delete(from)) this.selected.add(to)
      if (this.mounted.delete(from)) this.mounted.add(to)
      if (this.composing?.listId === from) this.composing = { ...this.composing, listId: to }
      if (location.pathname === `/cards/${from}`) go(`/cards/${to}${location.search}`, { replace: true })
    })
  }

  get view(): BoardData {
    if (!this.store.view) throw new Error('the board is not loaded')
    return this.store.view
  }

  /** Why nothing can be changed here; null for whom may. */
  readonly blocked: string | null = $derived.by(() => {
    const { board } = this.view
    if (board.archivedAt) return 'This board is archived.'
    const workspace = session.workspaces.find((w) => w.id === board.workspaceId)
    if (workspace?.readOnly) return 'This workspace is read-only until its plan has room again.'
    if (board.role === 'viewer') return 'You can look at this board, not change it.'
    if (board.role === 'commenter') return 'You can comment on this board, not change it.'
    return null
  })

  readonly canEdit: boolean = $derived(this.blocked === null)

  get canComment(): boolean {
    return this.view.board.role !== 'viewer' && !this.view.board.archivedAt
  }

  // -- what is seen --

  /** The cards of a list that pass the filter, the same array until one of them changes. */
  visible(listId: string): readonly string[] {
    const { cards, order } = this.view
    const ids = order.get(listId) ?? []
    if (!this.filtered) return ids
    const before = this.#orders.get(listId)
    if (before && before.ids === ids && before.cards === cards && before.filter === this.filter) return before.out
    const out = ids.filter((id) => {
      const card = cards.get(id)
      return card && passes(card, this.filter, this.now, session.me.timeZone)
    })
    const same = before && before.out.length === out.length && before.out.every((id, i) => id === out[i])
    this.#orders.set(listId, { ids, cards, filter: this.filter, out: same ? before.out : out })
    return same ? before.out : out
  }

  setFilter(fields: Partial<Filter>): void {
    go(location.pathname + writeFilter({ ...this.filter, ...fields }), { replace: true })
  }

  clearFilter(): void {
    this.filtering = false
    this.setFilter(emptyFilter)
  }

  limit(listId: string): number {
    return this.limits.get(listId) ?? firstSize
  }

  /** Whether a list stands in view before anything was scrolled. */
  startsInView(listId: string): boolean {
    return this.view.listOrder.indexOf(listId) * columnStep < innerWidth
  }

  mount(listId: string): void {
    this.mounted.add(listId)
  }

  showMore(listId: string): void {
    const now = this.limits.get(listId)
    this.limits.set(listId, now === undefined ? pageSize : now + pageSize)
  }

  get #collapsedKey(): string {
    return `cardwall-collapsed-${this.store.id}`
  }

  toggleCollapsed(listId: string): void {
    if (!this.collapsed.delete(listId)) this.collapsed.add(listId)
    localStorage.setItem(this.#collapsedKey, [...this.collapsed].join(','))
  }

  // -- focus --

  /** Brings the keyboard to a card, mounting it first when it is far away. */
  async focus(id: string | null): Promise<void> {
    this.focused = id
    const card = id && this.view.cards.get(id)
    if (!card) return
    const at = this.visible(card.listId).indexOf(card.id)
    if (at >= this.limit(card.listId)) this.limits.set(card.listId, at + pageSize)
    this.mount(card.listId)
    await tick()
    const node = document.getElementById(this.domId(card.id))
    node?.focus({ preventScroll: true })
    node?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }

  domId(id: string): string {
    return `card-${this.store.keyOf(id)}`
  }

  step(dx: number, dy: number): void {
    const lists = this.view.listOrder.filter((id) => !this.collapsed.has(id))
    const current = this.focused && this.view.cards.get(this.focused)
    if (!current) {
      const first = lists.find((id) => this.visible(id).length > 0)
      if (first) void this.focus(this.visible(first)[0]!)
      return
    }
    const ids = this.visible(current.listId)
    const row = ids.indexOf(current.id)
    if (dy !== 0) {
      const next = ids[row + dy]
      if (next) void this.focus(next)
      return
    }
    for (let i = lists.indexOf(current.listId) + dx; i >= 0 && i < lists.length; i += dx) {
      const there = this.visible(lists[i]!)
      if (there.length > 0) {
        void this.focus(there[Math.min(row, there.length - 1)]!)
        return
      }
    }
  }

  /** The cards that a key is about: the selection, else the focused one. */
  get targets(): string[] {
    if (this.selected.size > 0) return this.inOrder([...this.selected])
    return this.focused && this.view.cards.has(this.focused) ? [this.focused] : []
  }

  inOrder(ids: readonly string[]): string[] {
    const wanted = new Set(ids)
    return this.view.listOrder.flatMap((l) => (this.view.order.get(l) ?? []).filter((id) => wanted.has(id)))
  }

  toggleSelected(id: string): void {
    if (!this.selected.delete(id)) this.selected.add(id)
  }

  // -- acts --

  /** Whether the board may be changed; says why when not. */
  #mayEdit(): boolean {
    const why = this.blocked
    if (why) toast(why)
    return !why
  }

  card(id: string): Card | undefined {
    return this.view.cards.get(id)
  }

  /** Puts cards at a place, in the order in which they stand. */
  move(ids: readonly string[], listId: string, position: Position, say = false): void {
    if (!this.#mayEdit()) return
    const cards = ids.flatMap((id) => this.card(id) ?? [])
    const back = cards.map((c) =>
      operation('move_card', {
        cardId: c.id,
        listId: c.listId,
        position: positionOf(this.view.order.get(c.listId) ?? [], c.id),
      }),
    )
    let last: string | null = null
    const acts: Operation[] = []
    for (const c of cards) {
      const at: Position = last ? { after: last } : position
      const same = !last && c.listId === listId && standsAt(this.view.order.get(listId) ?? [], c.id, position)
      if (!same) acts.push(operation('move_card', { cardId: c.id, listId, position: at }))
      last = c.id
    }
    if (acts.length === 0) return
    const name = this.view.lists.get(listId)?.name ?? ''
    const text = `${cardsText(cards)} moved to ${name}`
    const undo = { text, operations: back }
    if (say) this.store.doWithToast(acts, undo)
    else this.store.do(acts, undo)
  }

  /** Moves the focused cards by keyboard; the focus stays on them. */
  shift(dx: number, dy: number): void {
    const ids = this.targets
    const first = ids[0] && this.card(ids[0])
    if (!first) return
    if (dx !== 0) {
      const lists = this.view.listOrder
      const to = lists[lists.indexOf(first.listId) + dx]
      if (!to) return
      const row = this.visible(first.listId).indexOf(first.id)
      const there = this.visible(to).filter((id) => !ids.includes(id))
      const before = there[row]
      this.move(ids, to, before ? { before } : 'bottom')
    } else {
      const order = this.visible(first.listId)
      const rest = order.filter((id) => !ids.includes(id))
      const at = order.slice(0, order.indexOf(first.id)).filter((id) => !ids.includes(id)).length + dy
      if (at < 0 || at > rest.length) return
      const before = rest[at]
      this.move(ids, first.listId, before ? { before } : 'bottom')
    }
    void this.focus(this.focused ?? first.id)
  }

  /** To the end of the list beside. */
  sendBeside(dx: number): void {
    const first = this.card(this.targets[0] ?? '')
    const to = first && this.view.listOrder[this.view.listOrder.indexOf(first.listId) + dx]
    if (to) {
      this.move(this.targets, to, 'bottom', true)
      void this.focus(this.focused)
    }
  }

  archive(ids: readonly string[]): void {
    if (!this.#mayEdit()) return
    const cards = ids.flatMap((id) => this.card(id) ?? [])
    if (cards.length === 0) return
    this.#focusBeside(cards)
    this.store.doWithToast(
      cards.map((c) => operation('archive_card', { cardId: c.id })),
      {
        text: `${cardsText(cards)} archived`,
        operations: cards.map((c) =>
          operation('restore_card', {
            cardId: c.id,
            position: positionOf(this.view.order.get(c.listId) ?? [], c.id),
          }),
        ),
      },
    )
    this.selected.clear()
  }

  restore(id: string): void {
    if (!this.#mayEdit()) return
    this.store.do(operation('restore_card', { cardId: id, position: 'bottom' }))
  }

  #focusBeside(gone: readonly Card[]): void {
    const card = gone.find((c) => c.id === this.focused)
    if (!card) return
    const order = this.visible(card.listId)
    const rest = order.filter((id) => !gone.some((c) => c.id === id))
    const at = order.slice(0, order.indexOf(card.id)).filter((id) => rest.includes(id)).length
    const next = rest[Math.min(at, rest.length - 1)] ?? null
    void tick().then(() => this.focus(next))
  }

  setDone(ids: readonly string[], done?: boolean): void {
    if (!this.#mayEdit()) return
    const cards = ids.flatMap((id) => this.card(id) ?? [])
    if (cards.length === 0) return
    const to = done ?? !cards.every((c) => c.done)
    const changed = cards.filter((c) => c.done !== to)
    this.store.do(
      changed.map((c) => operation('update_card', { cardId: c.id, done: to })),
      {
        text: `${cardsText(changed)} marked as ${to ? 'done' : 'not done'}`,
        operations: changed.map((c) => operation('update_card', { cardId: c.id, done: !to })),
      },
    )
  }

  setTitle(id: string, title: string): void {
    const card = this.card(id)
    const text = title.trim()
    if (!card || !text || text === card.title || !this.#mayEdit()) return
    this.store.do(operation('update_card', { cardId: id, title: text }), {
      text: 'title changed',
      operations: [operation('update_card', { cardId: id, title: card.title })],
    })
  }

  setDescription(id: string, description: string): void {
    const before = this.view.details.get(id)?.description
    if (before === undefined || before === description || !this.#mayEdit()) return
    this.store.do(operation('update_card', { cardId: id, description }), {
      text: 'description changed',
      operations: [operation('update_card', { cardId: id, description: before })],
    })
  }

  /** Puts a label on all cards, or takes it off when all have it. */
  toggleLabel(ids: readonly string[], labelId: string): void {
    this.#toggle('set_card_labels', ids, labelId, (c) => c.labels.some((l) => l.id === labelId), 'labels changed')
  }

  toggleAssignee(ids: readonly string[], userId: string): void {
    this.#toggle('set_card_assignees', ids, userId, (c) => c.assignees.some((a) => a.id === userId), 'people changed')
  }

  #toggle(
    kind: 'set_card_labels' | 'set_card_assignees',
    ids: readonly string[],
    id: string,
    has: (card: Card) => boolean,
    text: string,
  ): void {
    if (!this.#mayEdit()) return
    const cards = ids.flatMap((one) => this.card(one) ?? [])
    if (cards.length === 0) return
    const remove = cards.every(has)
    const changed = cards.filter((c) => has(c) === remove)
    const act = (c: Card, off: boolean) => operation(kind, { cardId: c.id, [off ? 'remove' : 'add']: [id] })
    this.store.do(
      changed.map((c) => act(c, remove)),
      { text, operations: changed.map((c) => act(c, !remove)) },
    )
  }

  setDue(ids: readonly string[], due: { dueDate: string; dueTime?: string; timeZone?: string } | null): void {
    if (!this.#mayEdit()) return
    const cards = ids.flatMap((id) => this.card(id) ?? [])
    const put = (c: Card, to: typeof due): Operation => {
      const { startDate, startTime, timeZone } = inputOf(c)
      if (!to && !startDate) return operation('clear_card_due', { cardId: c.id })
      const zone = to?.timeZone ?? (startTime ? timeZone : undefined)
      return operation('set_card_due', { cardId: c.id, due: { ...(to ?? {}), startDate, startTime, timeZone: zone } })
    }
    const back = (c: Card): Operation => {
      const was = inputOf(c)
      if (!was.dueDate && !was.startDate) return operation('clear_card_due', { cardId: c.id })
      return operation('set_card_due', { cardId: c.id, due: was })
    }
    this.store.do(
      cards.map((c) => put(c, due)),
      { text: 'due date changed', operations: cards.map(back) },
    )
  }

  /** Makes a card of each line; answers the id of the last. */
  create(listId: string, text: string, position: Position): string | null {
    const titles = text
      .split('\n')
      .map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)]|\[[ x]?\])\s+/, '').trim())
      .filter(Boolean)
    if (titles.length === 0 || !this.#mayEdit()) return null
    const { count, max } = this.view.board.limits.openCards
    if (count + titles.length > max) {
      toast(`The board holds at most ${max} open cards.`, { tone: 'bad' })
      return null
    }
    let at = position
    const acts: Operation[] = []
    const ids: string[] = []
    const { labels, people } = this.filter
    for (const title of titles) {
      const id = temporaryId()
      // A card that is made under a filter passes it.
      acts.push(
        operation('create_card', {
          id,
          listId,
          title: title.slice(0, 512),
          position: at,
          labels: labels.slice(0, 1),
          assignees: people.filter((p) => p !== 'none').slice(0, 1),
        }),
      )
      ids.push(id)
      at = { after: id }
    }
    this.store.do(acts, {
      text: titles.length === 1 ? 'card added' : `${titles.length} cards added`,
      operations: ids.map((id) => operation('archive_card', { cardId: id })),
    })
    return ids.at(-1) ?? null
  }

  copy(id: string): void {
    if (!this.#mayEdit()) return
    const copy = temporaryId()
    this.store.doWithToast([operation('copy_card', { id: copy, cardId: id, position: { after: id } })], {
      text: 'Card copied',
      operations: [operation('archive_card', { cardId: copy })],
    })
  }

  createList(name: string): void {
    const text = name.trim()
    if (!text || !this.#mayEdit()) return
    const id = temporaryId()
    this.store.do(operation('create_list', { id, name: text, position: 'bottom' }), {
      text: 'list added',
      operations: [operation('archive_list', { listId: id })],
    })
  }

  renameList(listId: string, name: string): void {
    const list = this.view.lists.get(listId)
    const text = name.trim()
    if (!list || !text || text === list.name || !this.#mayEdit()) return
    this.store.do(operation('update_list', { listId, name: text }), {
      text: 'list renamed',
      operations: [operation('update_list', { listId, name: list.name })],
    })
  }

  setLimit(listId: string, wipLimit: number | null): void {
    const list = this.view.lists.get(listId)
    if (!list || list.wipLimit === wipLimit || !this.#mayEdit()) return
    this.store.do(operation('update_list', { listId, wipLimit }), {
      text: 'limit changed',
      operations: [operation('update_list', { listId, wipLimit: list.wipLimit })],
    })
  }

  moveList(listId: string, position: Position): void {
    if (!this.#mayEdit() || standsAt(this.view.listOrder, listId, position)) return
    this.store.do(operation('move_list', { listId, position }), {
      text: 'list moved',
      operations: [operation('move_list', { listId, position: positionOf(this.view.listOrder, listId) })],
    })
  }

  archiveList(listId: string): void {
    if (!this.#mayEdit()) return
    this.store.doWithToast([operation('archive_list', { listId })], {
      text: `List ${this.view.lists.get(listId)?.name ?? ''} archived`,
      operations: [operation('restore_list', { listId, position: positionOf(this.view.listOrder, listId) })],
    })
  }

  createLabel(name: string, color: LabelColor, cards: readonly string[]): void {
    if (!this.#mayEdit()) return
    const id = temporaryId()
    this.store.do([
      operation('create_label', { id, name: name.trim(), color }),
      ...cards.map((cardId) => operation('set_card_labels', { cardId, add: [id] })),
    ])
  }

  pick(kind: Picker['kind'], ids: readonly string[], anchor?: Element | null): void {
    if (ids.length === 0 || !this.#mayEdit()) return
    const at = anchor ?? document.getElementById(this.domId(ids[0]!)) ?? document.body
    this.picker = { kind, cards: [...ids], anchor: at }
  }

  openCard(id: string): void {
    go(`/cards/${id}${location.search}`)
  }

  closeCard(): void {
    go(`/boards/${this.store.id}${location.search}`)
  }
}

function standsAt(ids: readonly string[], id: string, position: Position): boolean {
  const at = ids.indexOf(id)
  if (at < 0) return false
  if (position === 'top') return at === 0
  if (position === 'bottom') return at === ids.length - 1
  return 'after' in position ? ids[at - 1] === position.after : ids[at + 1] === position.before
}

function cardsText(cards: readonly Card[]): string {
  if (cards.length !== 1) return `${cards.length} cards`
  const title = cards[0]!.title
  return `“${title.length > 32 ? `${title.slice(0, 32)}…` : title}”`
}

export function provideBoard(page: BoardPage): BoardPage {
  return setContext(context, page)
}

export function board(): BoardPage {
  return getContext<BoardPage>(context)
}
