// State of a board page besides the board itself: focus, selection, filter and
// open editors, and the actions that keys and menus share.
import { getContext, setContext, tick, untrack } from 'svelte'
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import type { Card, Position } from '../../api/types'
import { countOf, emptyFilter, readFilter, matcherOf, writeFilter, type Filter } from '../../lib/filter'
import type { Matcher } from '../../lib/grammar'
import { address, go } from '../../lib/router.svelte'
import type { BoardData } from '../../state/boardData'
import type { BoardStore } from '../../state/boardStore.svelte'
import { operation } from '../../state/operations'
import { session } from '../../state/session.svelte'
import { toast } from '../../state/toasts.svelte'
import { CardActions } from './cardActions'
import { ListActions } from './listActions'

export type Picker = { kind: 'labels' | 'people' | 'due' | 'move'; cards: string[]; anchor: Element }
/** A dialog about the whole board. */
export type BoardDialog = 'share' | 'settings' | 'copy' | 'template'
export type Slot = { listId: string; before: string | null }

const pageSize = 25
const headerHeight = 92 // pixels above the cards: the headers of the board and of a list
const columnStep = 292 // pixels from one list to the next
const context = Symbol('board page')

export class BoardPage {
  focused = $state<string | null>(null)
  selected = new SvelteSet<string>()
  /** The start of a range selection, and the cards in the range. */
  #anchor: string | null = null
  #range: readonly string[] = []
  /** The list and position of the new card that is being written. */
  composing = $state.raw<{ listId: string; position: Position } | null>(null)
  editing = $state<string | null>(null)
  picker = $state.raw<Picker | null>(null)
  filtering = $state(false)
  helping = $state(false)
  dialog = $state<BoardDialog | null>(null)
  /** The dragged cards or list, and the drop position. */
  dragged = $state.raw<ReadonlySet<string>>(new Set())
  draggedHeight = $state(0)
  slot = $state.raw<Slot | null>(null)
  draggedList = $state<string | null>(null)
  listSlot = $state.raw<{ before: string | null } | null>(null)
  /** The lists whose cards are mounted. */
  mounted = new SvelteSet<string>()
  /** The number of mounted cards by list. */
  limits = new SvelteMap<string, number>()
  now = $state.raw(new Date())

  readonly cards = new CardActions(this)
  readonly lists = new ListActions(this)

  readonly filter: Filter = $derived(readFilter(address.query))
  readonly filtered: boolean = $derived(countOf(this.filter) > 0)
  /** Matches cards against the filter, and lists its unknown terms. */
  readonly matcher: Matcher = $derived.by(() =>
    matcherOf(this.filter, {
      now: this.now,
      timeZone: session.me.timeZone,
      me: session.me.id,
      listName: (id) => this.view.lists.get(id)?.name ?? '',
    }),
  )
  readonly #orders = new Map<
    string,
    { ids: readonly string[]; cards: BoardData['cards']; matcher: Matcher; out: readonly string[] }
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

  /** Why the person cannot change the board and what would help, or null. */
  readonly blocked: string | null = $derived.by(() => {
    const { board } = this.view
    if (board.archivedAt) return 'This board is archived.'
    if (session.workspaces.find((w) => w.id === board.workspaceId)?.readOnly) {
      return 'This workspace is read-only. You can view and export its boards. To make changes, ask your server’s administrator.'
    }
    if (board.role === 'viewer') return `You can view this board but not change it. ${this.#whoShares}`
    if (board.role === 'commenter') return `You can comment on this board but not change it. ${this.#whoShares}`
    return null
  })

  readonly canEdit: boolean = $derived(this.blocked === null)

  get #whoShares(): string {
    const admins = [...this.view.members.values()].filter((m) => m.role === 'admin').map((m) => m.name)
    if (admins.length === 0) return ''
    const some = admins.slice(0, 2).join(' or ')
    return `To get another role, ask ${some}${admins.length > 2 ? ' or another board admin' : ''}.`
  }

  get canComment(): boolean {
    return this.view.board.role !== 'viewer' && !this.view.board.archivedAt
  }

  /** The other people on the board, whom a text can mention. */
  get others(): { id: string; name: string }[] {
    return [...this.view.members.values()].filter((m) => m.id !== session.me.id)
  }

  /** What a text on this board can refer to: people by name, and cards by number. */
  readonly marks: { names: readonly string[]; card: (number: number) => { href: string; title: string } | null } =
    $derived({
      names: [...this.view.members.values()].map((m) => m.name),
      card: (number) =>
        untrack(() => {
          const card = [...this.view.cards.values()].find((one) => one.number === number)
          return card ? { href: `/cards/${card.id}`, title: card.title } : null
        }),
    })

  // -- visible cards --

  /** Returns the cards of a list that match the filter. The array stays the same until the result changes. */
  visible(listId: string): readonly string[] {
    const { cards, order } = this.view
    const ids = order.get(listId) ?? []
    if (!this.filtered) return ids
    const before = this.#orders.get(listId)
    if (before && before.ids === ids && before.cards === cards && before.matcher === this.matcher) return before.out
    const out = ids.filter((id) => {
      const card = cards.get(id)
      return card && this.matcher.matches(card)
    })
    const same = before && before.out.length === out.length && before.out.every((id, i) => id === out[i])
    this.#orders.set(listId, { ids, cards, matcher: this.matcher, out: same ? before.out : out })
    return same ? before.out : out
  }

  /** The number of cards that match the filter. */
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

  /** Estimates how many cards of a list are in view. They are rendered first, and the rest of the page follows. */
  #inView(listId: string): number {
    const ids = this.visible(listId).slice(0, pageSize)
    let room = innerHeight - headerHeight
    const last = ids.findIndex((id) => (room -= minHeight(this.view.cards.get(id))) < 0)
    return last < 0 ? pageSize : last + 1
  }

  /** Reports whether a list is in view before the page is scrolled. */
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

  /** The lists that the person collapsed, in this and in other browsers. */
  readonly collapsed: ReadonlySet<string> = $derived.by(() => new Set(this.store.view?.collapsed))

  toggleCollapsed(listId: string): void {
    const listIds = this.view.collapsed.filter((id) => id !== listId)
    if (listIds.length === this.view.collapsed.length) listIds.push(listId)
    this.store.do(operation('set_collapsed_lists', { listIds }))
  }

  // -- focus --

  /** Focuses a card. If it is not mounted yet, it is mounted first. */
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

  /** The cards that a shortcut applies to: the selection, or else the focused card. */
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

  // -- actions --

  /** Reports whether the person may change the board. If not, a toast says why. */
  mayEdit(): boolean {
    const reason = this.blocked
    if (reason) toast(reason)
    return !reason
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

  /** Moves the target cards to the end of the next or previous list. */
  sendBeside(dx: number): void {
    const first = this.card(this.targets[0] ?? '')
    const to = first && this.view.listOrder[this.view.listOrder.indexOf(first.listId) + dx]
    if (to) {
      this.cards.move(this.targets, to, 'bottom', true)
      void this.focus(this.focused)
    }
  }

  /** Moves the focus to the card next to those that are removed. */
  focusBeside(removed: readonly Card[]): void {
    const card = removed.find((c) => c.id === this.focused)
    if (!card) return
    const order = this.visible(card.listId)
    const rest = order.filter((id) => !removed.some((c) => c.id === id))
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

/** Returns the minimum height of a tile in pixels, with the gap below it. */
function minHeight(card: Card | undefined): number {
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
