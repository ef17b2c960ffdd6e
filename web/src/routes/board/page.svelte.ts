// What one board page knows besides the board: where the focus is, what is
// selected, filtered, being written; and the acts that keys and menus share.
import { getContext, setContext, tick, untrack } from 'svelte'
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import type { Card, Position } from '../../api/types'
import { countOf, emptyFilter, readFilter, sieveOf, writeFilter, type Filter } from '../../lib/filter'
import type { Sieve } from '../../lib/grammar'
import { address, go } from '../../lib/router.svelte'
import type { BoardData } from '../../state/board-data'
import { operation, type BoardStore } from '../../state/board.svelte'
import { session } from '../../state/session.svelte'
import { toast } from '../../state/toasts.svelte'
import { CardActs } from './card-acts'
import { ListActs } from './list-acts'

export type Picker = { kind: 'labels' | 'people' | 'due' | 'move'; cards: string[]; anchor: Element }
/** What is asked of the whole board in a dialog over it. */
export type BoardDialog = 'share' | 'settings' | 'copy' | 'template'
export type Slot = { listId: string; before: string | null }

const pageSize = 25
const headHeight = 92 // pixels above the cards, of the board and of a list
const columnStep = 292 // pixels from one list to the next
const context = Symbol('board page')

export class BoardPage {
  focused = $state<string | null>(null)
  selected = new SvelteSet<string>()
  /** Where a range selection starts, and the cards that it covers now. */
  #anchor: string | null = null
  #range: readonly string[] = []
  /** The list that a new card is being written for, and where in it. */
  composing = $state.raw<{ listId: string; position: Position } | null>(null)
  editing = $state<string | null>(null)
  picker = $state.raw<Picker | null>(null)
  filtering = $state(false)
  helping = $state(false)
  dialog = $state<BoardDialog | null>(null)
  /** Cards or a list under way, and where they would land. */
  dragged = $state.raw<ReadonlySet<string>>(new Set())
  draggedHeight = $state(0)
  slot = $state.raw<Slot | null>(null)
  draggedList = $state<string | null>(null)
  listSlot = $state.raw<{ before: string | null } | null>(null)
  /** The lists whose cards are mounted, */
  mounted = new SvelteSet<string>()
  /** and how many of each. */
  limits = new SvelteMap<string, number>()
  now = $state.raw(new Date())

  readonly cards = new CardActs(this)
  readonly lists = new ListActs(this)

  readonly filter: Filter = $derived(readFilter(address.query))
  readonly filtered: boolean = $derived(countOf(this.filter) > 0)
  /** What the filter lets pass, and what of its text means nothing. */
  readonly sieve: Sieve = $derived.by(() =>
    sieveOf(this.filter, {
      now: this.now,
      timeZone: session.me.timeZone,
      me: session.me.id,
      listName: (id) => this.view.lists.get(id)?.name ?? '',
    }),
  )
  readonly #orders = new Map<
    string,
    { ids: readonly string[]; cards: BoardData['cards']; sieve: Sieve; out: readonly string[] }
  >()

  constructor(readonly store: BoardStore) {
    store.onRenamed((from, to) => {
      if (this.focused === from) this.focused = to
      if (this.editing === from) this.editing = to
      if (this.selected.delete(from)) this.selected.add(to)
      if (this.#anchor === from) this.#anchor = to
      if (this.mounted.delete(from)) this.mounted.add(to)
      if (this.composing?.listId === from) this.composing = { ...this.composing, listId: to }
      if (location.pathname === `/cards/${from}`) go(`/cards/${to}${location.search}`, { replace: true })
    })
  }

  get view(): BoardData {
    if (!this.store.view) throw new Error('the board is not loaded')
    return this.store.view
  }

  /** Why nothing can be changed here, and what would help; null for whom may. */
  readonly blocked: string | null = $derived.by(() => {
    const { board } = this.view
    if (board.archivedAt) return 'This board is archived.'
    if (session.workspaces.find((w) => w.id === board.workspaceId)?.readOnly) {
      return 'The plan of this workspace is read-only. Everything can be read and exported; changes wait until whoever runs this server lifts that.'
    }
    if (board.role === 'viewer') return `You can look at this board, not change it. ${this.#whoShares}`
    if (board.role === 'commenter') return `You can comment on this board, not change it. ${this.#whoShares}`
    return null
  })

  readonly canEdit: boolean = $derived(this.blocked === null)

  get #whoShares(): string {
    const admins = [...this.view.members.values()].filter((m) => m.role === 'admin').map((m) => m.name)
    if (admins.length === 0) return ''
    const some = admins.slice(0, 2).join(' or ')
    return `${some}${admins.length > 2 ? ' or another of its admins' : ''} can give you another role.`
  }

  get canComment(): boolean {
    return this.view.board.role !== 'viewer' && !this.view.board.archivedAt
  }

  /** Who sees the board beside the person: whom a text can mention. */
  get others(): { id: string; name: string }[] {
    return [...this.view.members.values()].filter((m) => m.id !== session.me.id)
  }

  /** What a text on this board can mention: its people by name, its cards by number. */
  readonly marks: { names: readonly string[]; card: (number: number) => { href: string; title: string } | null } =
    $derived({
      names: [...this.view.members.values()].map((m) => m.name),
      card: (number) =>
        untrack(() => {
          const card = [...this.view.cards.values()].find((one) => one.number === number)
          return card ? { href: `/cards/${card.id}`, title: card.title } : null
        }),
    })

  // -- what is seen --

  /** The cards of a list that pass the filter, the same array until one of them changes. */
  visible(listId: string): readonly string[] {
    const { cards, order } = this.view
    const ids = order.get(listId) ?? []
    if (!this.filtered) return ids
    const before = this.#orders.get(listId)
    if (before && before.ids === ids && before.cards === cards && before.sieve === this.sieve) return before.out
    const out = ids.filter((id) => {
      const card = cards.get(id)
      return card && this.sieve.passes(card)
    })
    const same = before && before.out.length === out.length && before.out.every((id, i) => id === out[i])
    this.#orders.set(listId, { ids, cards, sieve: this.sieve, out: same ? before.out : out })
    return same ? before.out : out
  }

  /** How many cards pass the filter. */
  readonly found: number = $derived.by(() => this.view.listOrder.reduce((n, id) => n + this.visible(id).length, 0))

  setFilter(fields: Partial<Filter>): void {
    go(location.pathname + writeFilter({ ...this.filter, ...fields }), { replace: true })
  }

  clearFilter(): void {
    this.filtering = false
    this.setFilter(emptyFilter)
  }

  limit(listId: string): number {
    return this.limits.get(listId) ?? this.#inView(listId)
  }

  /** How many cards of a list are in view, or some more: those are painted first, and the rest of its page follows. */
  #inView(listId: string): number {
    const ids = this.visible(listId).slice(0, pageSize)
    let room = innerHeight - headHeight
    const last = ids.findIndex((id) => (room -= leastHeight(this.view.cards.get(id))) < 0)
    return last < 0 ? pageSize : last + 1
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

  /** Mounts all cards, for printing. */
  showAll(): void {
    for (const id of this.view.listOrder) {
      this.mount(id)
      this.limits.set(id, Infinity)
    }
  }

  /** The lists that the person has collapsed, here and in other browsers. */
  readonly collapsed: ReadonlySet<string> = $derived.by(() => new Set(this.store.view?.collapsed))

  toggleCollapsed(listId: string): void {
    const listIds = this.view.collapsed.filter((id) => id !== listId)
    if (listIds.length === this.view.collapsed.length) listIds.push(listId)
    this.store.do(operation('set_collapsed_lists', { listIds }))
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

  /** Makes a card the start of the next range. */
  anchorAt(id: string): void {
    this.#anchor = id
    this.#range = []
  }

  toggleSelected(id: string): void {
    if (!this.selected.delete(id)) this.selected.add(id)
    this.anchorAt(id)
  }

  /** Selects from the anchor to a card of the same list. In another list the range starts over at that card. */
  selectTo(id: string): void {
    const order = this.visible(this.card(id)?.listId ?? '')
    const from = this.#anchor === null ? -1 : order.indexOf(this.#anchor)
    const to = order.indexOf(id)
    if (to < 0) return
    if (from < 0) {
      this.anchorAt(id)
      this.selected.add(id)
      return
    }
    for (const one of this.#range) this.selected.delete(one)
    this.#range = order.slice(Math.min(from, to), Math.max(from, to) + 1)
    for (const one of this.#range) this.selected.add(one)
  }

  /** Extends the selection by keyboard to the card above or below. */
  extend(dy: number): void {
    const card = this.focused && this.card(this.focused)
    if (!card) return
    const order = this.visible(card.listId)
    if (this.#anchor === null || !order.includes(this.#anchor) || !this.selected.has(this.#anchor)) {
      this.anchorAt(card.id)
    }
    const next = order[order.indexOf(card.id) + dy] ?? card.id
    this.selectTo(next)
    void this.focus(next)
  }

  // -- acts --

  /** Whether the board may be changed; says why when not. */
  mayEdit(): boolean {
    const why = this.blocked
    if (why) toast(why)
    return !why
  }

  card(id: string): Card | undefined {
    return this.view.cards.get(id)
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
      this.cards.move(ids, to, before ? { before } : 'bottom')
    } else {
      const order = this.visible(first.listId)
      const rest = order.filter((id) => !ids.includes(id))
      const at = order.slice(0, order.indexOf(first.id)).filter((id) => !ids.includes(id)).length + dy
      if (at < 0 || at > rest.length) return
      const before = rest[at]
      this.cards.move(ids, first.listId, before ? { before } : 'bottom')
    }
    void this.focus(this.focused ?? first.id)
  }

  /** To the end of the list beside. */
  sendBeside(dx: number): void {
    const first = this.card(this.targets[0] ?? '')
    const to = first && this.view.listOrder[this.view.listOrder.indexOf(first.listId) + dx]
    if (to) {
      this.cards.move(this.targets, to, 'bottom', true)
      void this.focus(this.focused)
    }
  }

  /** The focus goes to the card beside those that leave. */
  focusBeside(gone: readonly Card[]): void {
    const card = gone.find((c) => c.id === this.focused)
    if (!card) return
    const order = this.visible(card.listId)
    const rest = order.filter((id) => !gone.some((c) => c.id === id))
    const at = order.slice(0, order.indexOf(card.id)).filter((id) => rest.includes(id)).length
    const next = rest[Math.min(at, rest.length - 1)] ?? null
    void tick().then(() => this.focus(next))
  }

  pick(kind: Picker['kind'], ids: readonly string[], anchor?: Element | null): void {
    if (ids.length === 0 || !this.mayEdit()) return
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

/** How high a tile is at least, in pixels, with the gap below. */
function leastHeight(card: Card | undefined): number {
  if (!card) return 0
  const row = 24
  const title = Math.ceil(card.title.length / 48) * 19
  const facts = card.dueDate || card.checklistItems.total > 0 || card.comments > 0 || card.assignees.length > 0
  return 22 + title + (card.labels.length > 0 ? row : 0) + (facts ? row : 0)
}

export function provideBoard(page: BoardPage): BoardPage {
  return setContext(context, page)
}

export function board(): BoardPage {
  return getContext<BoardPage>(context)
}
