// The state of a board page other than the board itself (focus, selection, filter and
// open editors), and the actions that keyboard shortcuts and menus share.
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
/** A dialog about the board. */
export type BoardDialog = 'share' | 'settings' | 'copy' | 'template'
/** The drop position of a card: before another card, or at the bottom of a list. */
export type Slot = { listId: string; before: string | null }

/** The number of cards that are mounted at a time when a list is scrolled. */
const pageSize = 25
const headerHeight = 92 // pixels above the cards, for the headers of the board and the list
const columnStep = 292 // pixels from the start of one list to the next
// For minHeight: sizes on a tile in pixels, as in CardFace.
const tileSpace = 22 // the padding of a tile and the gap below it
const titleLine = 19 // one line of the title
const titleChars = 48 // the maximum number of characters in a line of the title
const factsRow = 24 // the row of labels or of facts, with the gap above it
const coverWidth = 260
const coverMaxHeight = 160
const context = Symbol('board page')

export class BoardPage {
  /** The ID of the focused card. */
  focused = $state<string | null>(null)
  selected = new SvelteSet<string>()
  /** The start of a range selection, and the IDs of the cards in the range. */
  #anchor: string | null = null
  #range: readonly string[] = []
  /** The list and position of the form for a new card, or null if it is closed. */
  composing = $state.raw<{ listId: string; position: Position } | null>(null)
  /** The ID of the card whose title is being edited on its tile. */
  editing = $state<string | null>(null)
  picker = $state.raw<Picker | null>(null)
  /** How often the filter was opened, or 0 if it is closed. Opening it again focuses it. */
  filterOpen = $state(0)
  helpOpen = $state(false)
  dialog = $state<BoardDialog | null>(null)
  /** IDs of the dragged cards. */
  dragged = $state.raw<ReadonlySet<string>>(new Set())
  draggedHeight = $state(0)
  slot = $state.raw<Slot | null>(null)
  draggedList = $state<string | null>(null)
  listSlot = $state.raw<{ before: string | null } | null>(null)
  /** IDs of the lists whose cards are mounted. */
  mounted = new SvelteSet<string>()
  /** The maximum number of mounted cards, by list ID. */
  limits = new SvelteMap<string, number>()
  /** The ID of the card on which dragged files would be dropped. */
  fileTarget = $state<string | null>(null)
  now = $state.raw(new Date())

  readonly cards = new CardActions(this)
  readonly lists = new ListActions(this)

  readonly filter: Filter = $derived(readFilter(address.query))
  readonly filtered: boolean = $derived(countOf(this.filter) > 0)
  /** Matches cards against the filter. */
  readonly matcher: Matcher = $derived.by(() =>
    matcherOf(this.filter, {
      now: this.now,
      timeZone: session.me.timeZone,
      me: session.me.id,
      listName: (id) => this.view.lists.get(id)?.name ?? '',
    }),
  )
  /** The results of visible() and their inputs, by list ID. */
  readonly #visibleCache = new Map<
    string,
    { ids: readonly string[]; cards: BoardData['cards']; matcher: Matcher; result: readonly string[] }
  >()

  constructor(readonly store: BoardStore) {
    store.onIdAssigned((from, to) => {
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

  /** Why the user cannot change the board, as text for a message, or null if the user can change it. */
  readonly readOnlyReason: string | null = $derived.by(() => {
    const { board } = this.view
    if (board.archivedAt) return 'This board is archived.'
    if (session.workspaces.find((w) => w.id === board.workspaceId)?.readOnly) {
      return 'This workspace is read-only. You can view and export its boards. To make changes, contact your administrator.'
    }
    if (board.role === 'viewer') return `You have view-only access to this board. ${this.#roleHint}`
    if (board.role === 'commenter') return `You can comment on this board but not edit it. ${this.#roleHint}`
    return null
  })

  readonly canEdit: boolean = $derived(this.readOnlyReason === null)

  get #roleHint(): string {
    const admins = [...this.view.members.values()].filter((m) => m.role === 'admin').map((m) => m.name)
    if (admins.length === 0) return ''
    const names = admins.slice(0, 2).join(' or ')
    return `To get more access, ask ${names}${admins.length > 2 ? ' or another board admin' : ''}.`
  }

  get canComment(): boolean {
    return this.view.board.role !== 'viewer' && !this.view.board.archivedAt
  }

  /** The people who can be mentioned: the members of the board other than the user. */
  get mentionable(): { id: string; name: string }[] {
    return [...this.view.members.values()].filter((m) => m.id !== session.me.id)
  }

  /** The options for rendering Markdown on this board: the names of its members, and its cards by number. */
  readonly markdownOptions: {
    names: readonly string[]
    card: (number: number) => { href: string; title: string } | null
  } = $derived({
    names: [...this.view.members.values()].map((m) => m.name),
    card: (number) =>
      untrack(() => {
        const card = [...this.view.cards.values()].find((c) => c.number === number)
        return card ? { href: `/cards/${card.id}`, title: card.title } : null
      }),
  })

  // -- visible cards --

  /** Returns the IDs of the cards in a list that match the filter. Returns the same array until the result changes. */
  visible(listId: string): readonly string[] {
    const { cards, order } = this.view
    const ids = order.get(listId) ?? []
    if (!this.filtered) return ids
    const cached = this.#visibleCache.get(listId)
    if (cached && cached.ids === ids && cached.cards === cards && cached.matcher === this.matcher) return cached.result
    const matching = ids.filter((id) => {
      const card = cards.get(id)
      return card && this.matcher.matches(card)
    })
    const same = cached?.result.length === matching.length && cached.result.every((id, i) => id === matching[i])
    const result = same ? cached.result : matching
    this.#visibleCache.set(listId, { ids, cards, matcher: this.matcher, result })
    return result
  }

  /** The number of cards that match the filter. */
  readonly matchCount: number = $derived.by(() => this.view.listOrder.reduce((n, id) => n + this.visible(id).length, 0))

  setFilter(fields: Partial<Filter>): void {
    this.limits.clear() // mount the cards in view first, and the rest when the browser is idle
    go(location.pathname + writeFilter({ ...this.filter, ...fields }), { replace: true })
  }

  clearFilter(): void {
    this.filterOpen = 0
    this.setFilter(emptyFilter)
  }

  /** Returns the maximum number of cards to mount in a list. */
  limit(listId: string): number {
    return this.limits.get(listId) ?? this.#estimateInView(listId)
  }

  /** Estimates how many cards of a list are in view. These cards are mounted first. */
  #estimateInView(listId: string): number {
    const ids = this.visible(listId).slice(0, pageSize)
    let remaining = innerHeight - headerHeight
    const lastInView = ids.findIndex((id) => (remaining -= minHeight(this.view.cards.get(id))) < 0)
    return lastInView < 0 ? pageSize : lastInView + 1
  }

  /** Reports whether a list is in view before the board is scrolled. */
  isInitiallyInView(listId: string): boolean {
    return this.view.listOrder.indexOf(listId) * columnStep < innerWidth
  }

  mount(listId: string): void {
    this.mounted.add(listId)
  }

  showMore(listId: string): void {
    const limit = this.limits.get(listId)
    this.limits.set(listId, limit === undefined ? pageSize : limit + pageSize)
  }

  /** Mounts all cards, for printing. */
  showAll(): void {
    for (const id of this.view.listOrder) {
      this.mount(id)
      this.limits.set(id, Infinity)
    }
  }

  /** IDs of the lists that the user has collapsed, in any browser. */
  readonly collapsed: ReadonlySet<string> = $derived.by(() => new Set(this.store.view?.collapsed))

  toggleCollapsed(listId: string): void {
    const listIds = this.view.collapsed.filter((id) => id !== listId)
    if (listIds.length === this.view.collapsed.length) listIds.push(listId)
    this.store.do(operation('set_collapsed_lists', { listIds }))
  }

  // -- focus --

  /** Focuses a card, and mounts it first if necessary. */
  async focus(id: string | null): Promise<void> {
    this.focused = id
    const card = id && this.view.cards.get(id)
    if (!card) return
    const index = this.visible(card.listId).indexOf(card.id)
    if (index >= this.limit(card.listId)) this.limits.set(card.listId, index + pageSize)
    this.mount(card.listId)
    await tick()
    const node = document.getElementById(this.domId(card.id))
    node?.focus({ preventScroll: true })
    node?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }

  /** Returns the ID of a card's element. */
  domId(id: string): string {
    return `card-${this.store.keyOf(id)}`
  }

  /** Moves the focus by `dx` lists or `dy` cards. */
  moveFocus(dx: number, dy: number): void {
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
      const candidates = this.visible(lists[i]!)
      if (candidates.length > 0) {
        void this.focus(candidates[Math.min(row, candidates.length - 1)]!)
        return
      }
    }
  }

  /** IDs of the cards that a shortcut applies to: the selected cards, or else the focused card. */
  get targets(): string[] {
    if (this.selected.size > 0) return this.inOrder([...this.selected])
    return this.focused && this.view.cards.has(this.focused) ? [this.focused] : []
  }

  /** Returns card IDs in the order of the board. */
  inOrder(ids: readonly string[]): string[] {
    const included = new Set(ids)
    return this.view.listOrder.flatMap((l) => (this.view.order.get(l) ?? []).filter((id) => included.has(id)))
  }

  /** Makes a card the start of the next range selection. */
  setAnchor(id: string): void {
    this.#anchor = id
    this.#range = []
  }

  toggleSelected(id: string): void {
    if (!this.selected.delete(id)) this.selected.add(id)
    this.setAnchor(id)
  }

  /**
   * Selects the range from the anchor to a card. If the card’s list does not show the anchor,
   * the card becomes the new anchor.
   */
  selectTo(id: string): void {
    const order = this.visible(this.card(id)?.listId ?? '')
    const from = this.#anchor === null ? -1 : order.indexOf(this.#anchor)
    const to = order.indexOf(id)
    if (to < 0) return
    if (from < 0) {
      this.setAnchor(id)
      this.selected.add(id)
      return
    }
    for (const rangeId of this.#range) this.selected.delete(rangeId)
    this.#range = order.slice(Math.min(from, to), Math.max(from, to) + 1)
    for (const rangeId of this.#range) this.selected.add(rangeId)
  }

  /** Extends the selection to the card above (-1) or below (1) the focused card. */
  extendSelection(dy: number): void {
    const card = this.focused && this.card(this.focused)
    if (!card) return
    const order = this.visible(card.listId)
    if (this.#anchor === null || !order.includes(this.#anchor) || !this.selected.has(this.#anchor)) {
      this.setAnchor(card.id)
    }
    const next = order[order.indexOf(card.id) + dy] ?? card.id
    this.selectTo(next)
    void this.focus(next)
  }

  // -- actions --

  /** Reports whether the user can change the board. If not, shows a toast with the reason. */
  checkCanEdit(): boolean {
    if (this.readOnlyReason) toast(this.readOnlyReason)
    return this.canEdit
  }

  card(id: string): Card | undefined {
    return this.view.cards.get(id)
  }

  /** Moves the target cards by `dx` lists or `dy` positions, and keeps the focus on them. */
  moveTargets(dx: number, dy: number): void {
    const ids = this.targets
    const first = ids[0] && this.card(ids[0])
    if (!first) return
    if (dx !== 0) {
      const lists = this.view.listOrder
      const to = lists[lists.indexOf(first.listId) + dx]
      if (!to) return
      const row = this.visible(first.listId).indexOf(first.id)
      const others = this.visible(to).filter((id) => !ids.includes(id))
      const before = others[row]
      this.cards.move(ids, to, before ? { before } : 'bottom')
    } else {
      const order = this.visible(first.listId)
      const rest = order.filter((id) => !ids.includes(id))
      const index = order.slice(0, order.indexOf(first.id)).filter((id) => !ids.includes(id)).length + dy
      if (index < 0 || index > rest.length) return
      const before = rest[index]
      this.cards.move(ids, first.listId, before ? { before } : 'bottom')
    }
    void this.focus(this.focused ?? first.id)
  }

  /** Moves the target cards to the bottom of the previous (-1) or next (1) list. */
  moveToAdjacentList(dx: number): void {
    const first = this.card(this.targets[0] ?? '')
    const to = first && this.view.listOrder[this.view.listOrder.indexOf(first.listId) + dx]
    if (to) {
      this.cards.move(this.targets, to, 'bottom', true)
      void this.focus(this.focused)
    }
  }

  /**
   * If the focused card is about to be removed, moves the focus to the next remaining card of
   * its list or, if there is none, to the last.
   */
  focusAdjacent(removed: readonly Card[]): void {
    const card = removed.find((c) => c.id === this.focused)
    if (!card) return
    const order = this.visible(card.listId)
    const rest = order.filter((id) => !removed.some((c) => c.id === id))
    const index = order.slice(0, order.indexOf(card.id)).filter((id) => rest.includes(id)).length
    const next = rest[Math.min(index, rest.length - 1)] ?? null
    void tick().then(() => this.focus(next))
  }

  /** Opens a picker for cards, next to an element or the first card. */
  openPicker(kind: Picker['kind'], ids: readonly string[], anchor?: Element | null): void {
    if (ids.length === 0 || !this.checkCanEdit()) return
    const element = anchor ?? document.getElementById(this.domId(ids[0]!)) ?? document.body
    this.picker = { kind, cards: [...ids], anchor: element }
  }

  openCard(id: string): void {
    go(`/cards/${id}${location.search}`)
  }

  closeCard(): void {
    go(`/boards/${this.store.id}${location.search}`)
  }
}

/** Returns the minimum height of a tile in pixels, including the gap below it. */
function minHeight(card: Card | undefined): number {
  if (!card) return 0
  const title = Math.ceil(card.title.length / titleChars) * titleLine
  const facts =
    card.dueDate ||
    card.checklistItems.total > 0 ||
    card.comments > 0 ||
    card.attachments > 0 ||
    card.assignees.length > 0
  const cover = card.cover ? Math.min(coverMaxHeight, (coverWidth * card.cover.height) / card.cover.width) : 0
  return tileSpace + cover + title + (card.labels.length > 0 ? factsRow : 0) + (facts ? factsRow : 0)
}

/** Makes a board page available to the components of the board. */
export function setBoardPage(page: BoardPage): BoardPage {
  return setContext(context, page)
}

/** Returns the board page of the current component. */
export function getBoardPage(): BoardPage {
  return getContext<BoardPage>(context)
}
