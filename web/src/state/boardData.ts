// A board as plain immutable records. A draft copies what it changes and shares
// the rest, so a component that reads one card or list gets the same object until
// that card or list changes.
import type { OpenedBoard } from '../api/contract'
import type { BoardDetail, BoardMember, Card, Checklist, Comment, Label, List, Position } from '../api/types'

export type BoardInfo = Omit<BoardDetail, 'lists' | 'labels'>

/** The details of a card, loaded when it is opened. */
export type Details = { description: string; checklists: Checklist[]; comments: Comment[] }

export type BoardData = Readonly<{
  board: BoardInfo
  starred: boolean
  /** Whether the person watches the board. */
  watched: boolean
  /** The lists that the person has collapsed. */
  collapsed: readonly string[]
  lists: ReadonlyMap<string, List>
  /** The open lists, left to right. */
  listOrder: readonly string[]
  labels: ReadonlyMap<string, Label>
  members: ReadonlyMap<string, BoardMember>
  /** All loaded cards: the open ones, and archived ones that were opened. */
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

/** Returns the IDs with an ID moved to a position. An unknown neighbor means the bottom. */
export function insertAt(ids: readonly string[], id: string, position: Position): string[] {
  const rest = ids.filter((other) => other !== id)
  let at = rest.length
  if (position === 'top') at = 0
  else if (position !== 'bottom') {
    const neighbor = 'before' in position ? position.before : position.after
    const found = rest.indexOf(neighbor)
    if (found >= 0) at = 'before' in position ? found : found + 1
  }
  rest.splice(at, 0, id)
  return rest
}

/** Returns the current position of an ID, for moving it back there. */
export function positionOf(ids: readonly string[], id: string): Position {
  const at = ids.indexOf(id)
  const before = at > 0 ? ids[at - 1] : undefined
  return before === undefined ? 'top' : { after: before }
}

type Maps = 'lists' | 'labels' | 'members' | 'cards' | 'order' | 'details'
type Value<K extends Maps> = BoardData[K] extends ReadonlyMap<string, infer V> ? V : never

/** A modified copy of a BoardData. */
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

  /** Changes fields of a record. It does nothing if there is no such record. */
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

  /** Moves an open card to a position in a list. */
  placeCard(id: string, listId: string, position: Position): void {
    const card = this.next.cards.get(id)
    if (!card) return
    if (card.listId !== listId) {
      this.detachCard(id)
      this.set('cards', id, { ...card, listId })
    }
    this.map('order').set(listId, insertAt(this.next.order.get(listId) ?? [], id, position))
  }

  /** Removes a card from the order of its list. The record stays. */
  detachCard(id: string): void {
    const card = this.next.cards.get(id)
    const ids = card && this.next.order.get(card.listId)
    if (ids?.includes(id))
      this.map('order').set(
        card!.listId,
        ids.filter((other) => other !== id),
      )
  }

  removeCard(id: string): void {
    this.detachCard(id)
    this.delete('cards', id)
    this.delete('details', id)
  }

  /** Removes a list and its cards. */
  removeList(id: string): void {
    this.detachList(id)
    for (const card of this.next.cards.values()) if (card.listId === id) this.removeCard(card.id)
    this.delete('lists', id)
    this.delete('order', id)
  }

  placeList(id: string, position: Position): void {
    this.next.listOrder = insertAt(this.next.listOrder, id, position)
  }

  /** Archives a list and its cards. */
  archiveList(id: string, at: string): void {
    this.detachList(id)
    this.patch('lists', id, { archivedAt: at })
    for (const card of this.next.cards.values()) {
      if (card.listId === id && !card.archivedAt) this.patch('cards', card.id, { archivedAt: at, archivedBy: 'list' })
    }
  }

  /** Restores a list and the cards that were archived with it. */
  restoreList(id: string, position: Position): void {
    this.patch('lists', id, { archivedAt: null })
    this.placeList(id, position)
    for (const card of this.next.cards.values()) {
      if (card.listId === id && card.archivedBy === 'list')
        this.patch('cards', card.id, { archivedAt: null, archivedBy: null })
    }
  }

  detachList(id: string): void {
    this.next.listOrder = this.next.listOrder.filter((other) => other !== id)
  }
}
