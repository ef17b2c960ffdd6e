// A board as the page holds it: plain immutable records. A draft copies what it
// changes and leaves the rest shared, so that whoever looks at one card or one
// list sees the same object until that one changes.
import type { OpenedBoard } from '../api/contract'
import type { BoardDetail, BoardMember, Card, Checklist, Comment, Label, List, Position } from '../api/types'

export type BoardInfo = Omit<BoardDetail, 'lists' | 'labels'>

/** What is loaded only for a card that was opened. */
export type Details = { description: string; checklists: Checklist[]; comments: Comment[] }

export type BoardData = Readonly<{
  board: BoardInfo
  starred: boolean
  /** Whether the person is told of what changes on it. */
  watched: boolean
  /** The lists that the person has collapsed. */
  collapsed: readonly string[]
  lists: ReadonlyMap<string, List>
  /** The open lists, left to right. */
  listOrder: readonly string[]
  labels: ReadonlyMap<string, Label>
  members: ReadonlyMap<string, BoardMember>
  /** All cards that are known: the open ones, and archived ones that were met. */
  cards: ReadonlyMap<string, Card>
  /** The open cards of each list, top to bottom. */
  order: ReadonlyMap<string, readonly string[]>
  details: ReadonlyMap<string, Details>
}>

export function fromOpened(opened: OpenedBoard): BoardData {
  const { lists, labels, cards, members, starred, watched, collapsedLists, ...board } = opened
  const order = new Map<string, string[]>(lists.map((l) => [l.id, []]))
  for (const card of cards) {
    const ids = order.get(card.listId)
    if (ids) ids.push(card.id)
    else order.set(card.listId, [card.id])
  }
  return {
    board,
    starred,
    watched,
    collapsed: collapsedLists,
    lists: new Map(lists.map((l) => [l.id, l])),
    listOrder: lists.filter((l) => !l.archivedAt).map((l) => l.id),
    labels: new Map(labels.map((l) => [l.id, l])),
    members: new Map(members.map((m) => [m.id, m])),
    cards: new Map(cards.map((c) => [c.id, c])),
    order,
    details: new Map(),
  }
}

/** The ids with id at position; a neighbour that is not there means the bottom. */
export function placed(ids: readonly string[], id: string, position: Position): string[] {
  const rest = ids.filter((other) => other !== id)
  let at = rest.length
  if (position === 'top') at = 0
  else if (position !== 'bottom') {
    const neighbour = 'before' in position ? position.before : position.after
    const found = rest.indexOf(neighbour)
    if (found >= 0) at = 'before' in position ? found : found + 1
  }
  rest.splice(at, 0, id)
  return rest
}

/** How to say where an id stands among others, for putting it back there. */
export function positionOf(ids: readonly string[], id: string): Position {
  const at = ids.indexOf(id)
  const before = at > 0 ? ids[at - 1] : undefined
  return before === undefined ? 'top' : { after: before }
}

type Maps = 'lists' | 'labels' | 'members' | 'cards' | 'order' | 'details'
type Value<K extends Maps> = BoardData[K] extends ReadonlyMap<string, infer V> ? V : never

/** A change of a BoardData in the making. */
export class Draft {
  private next: { -readonly [K in keyof BoardData]: BoardData[K] }
  private copied = new Set<Maps>()

  constructor(base: BoardData) {
    this.next = { ...base }
  }

  get data(): BoardData {
    return this.next
  }

  private map<K extends Maps>(name: K): Map<string, Value<K>> {
    if (!this.copied.has(name)) {
      this.copied.add(name)
      this.next[name] = new Map(this.next[name] as ReadonlyMap<string, never>) as never
    }
    return this.next[name] as unknown as Map<string, Value<K>>
  }

  set<K extends Maps>(name: K, id: string, value: Value<K>): void {
    this.map(name).set(id, value)
  }

  delete(name: Maps, id: string): void {
    if (this.next[name].has(id)) this.map(name).delete(id)
  }

  /** Changes fields of a record that is there; does nothing when it is not. */
  patch<K extends 'lists' | 'labels' | 'cards' | 'details'>(name: K, id: string, fields: Partial<Value<K>>): void {
    const record = this.next[name].get(id)
    if (record) this.map(name).set(id, { ...record, ...fields } as Value<K>)
  }

  patchBoard(fields: Partial<BoardInfo>): void {
    this.next.board = { ...this.next.board, ...fields }
  }

  collapse(listIds: readonly string[]): void {
    this.next.collapsed = listIds
  }

  star(starred: boolean): void {
    this.next.starred = starred
  }

  watch(watched: boolean): void {
    this.next.watched = watched
  }

  /** Stands an open card in a list, taking it from where it stood. */
  placeCard(id: string, listId: string, position: Position): void {
    const card = this.next.cards.get(id)
    if (!card) return
    if (card.listId !== listId) {
      this.liftCard(id)
      this.set('cards', id, { ...card, listId })
    }
    this.map('order').set(listId, placed(this.next.order.get(listId) ?? [], id, position))
  }

  /** Takes a card out of its list's order; the record stays. */
  liftCard(id: string): void {
    const card = this.next.cards.get(id)
    const ids = card && this.next.order.get(card.listId)
    if (ids?.includes(id))
      this.map('order').set(
        card!.listId,
        ids.filter((other) => other !== id),
      )
  }

  removeCard(id: string): void {
    this.liftCard(id)
    this.delete('cards', id)
    this.delete('details', id)
  }

  /** Takes a list away with its cards. */
  removeList(id: string): void {
    this.liftList(id)
    for (const card of this.next.cards.values()) if (card.listId === id) this.removeCard(card.id)
    this.delete('lists', id)
    this.delete('order', id)
  }

  placeList(id: string, position: Position): void {
    this.next.listOrder = placed(this.next.listOrder, id, position)
  }

  /** Archives a list and its cards with it. */
  archiveList(id: string, at: string): void {
    this.liftList(id)
    this.patch('lists', id, { archivedAt: at })
    for (const card of this.next.cards.values()) {
      if (card.listId === id && !card.archivedAt) this.patch('cards', card.id, { archivedAt: at, archivedBy: 'list' })
    }
  }

  /** Brings back a list, and the cards that were archived with it. */
  restoreList(id: string, position: Position): void {
    this.patch('lists', id, { archivedAt: null })
    this.placeList(id, position)
    for (const card of this.next.cards.values()) {
      if (card.listId === id && card.archivedBy === 'list')
        this.patch('cards', card.id, { archivedAt: null, archivedBy: null })
    }
  }

  liftList(id: string): void {
    this.next.listOrder = this.next.listOrder.filter((other) => other !== id)
  }
}
