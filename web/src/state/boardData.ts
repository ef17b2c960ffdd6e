// A board as plain immutable records. A draft copies only the records that it
// changes. A component that reads one card or list therefore gets the same object
// until that card or list changes.
import type { OpenedBoard } from '../api/contract'
import type {
  Attachment,
  BoardDetail,
  BoardMember,
  Card,
  Checklist,
  Comment,
  Label,
  LabelRef,
  List,
  Position,
} from '../api/types'

export type BoardInfo = Omit<BoardDetail, 'lists' | 'labels'>

/** The details of a card, loaded when it is opened. */
export type Details = {
  description: string
  checklists: Checklist[]
  comments: Comment[]
  /** The attachments, oldest first, or null if they could not be loaded. */
  attachments: Attachment[] | null
}

export type BoardData = Readonly<{
  board: BoardInfo
  starred: boolean
  /** Whether the user watches the board. */
  watched: boolean
  /** IDs of the lists that the user has collapsed. */
  collapsed: readonly string[]
  lists: ReadonlyMap<string, List>
  /** IDs of the open lists, left to right. */
  listOrder: readonly string[]
  labels: ReadonlyMap<string, Label>
  members: ReadonlyMap<string, BoardMember>
  /** All loaded cards: the open cards, and archived cards that were opened or archived after the board was loaded. */
  cards: ReadonlyMap<string, Card>
  /** IDs of the open cards of each list, top to bottom. */
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

/** Returns `ids` with `id` at a position. If the neighbor is unknown, `id` goes to the bottom. */
export function insertAt(ids: readonly string[], id: string, position: Position): string[] {
  const rest = ids.filter((other) => other !== id)
  let index = rest.length
  if (position === 'top') index = 0
  else if (position !== 'bottom') {
    const neighbor = 'before' in position ? position.before : position.after
    const neighborIndex = rest.indexOf(neighbor)
    if (neighborIndex >= 0) index = 'before' in position ? neighborIndex : neighborIndex + 1
  }
  rest.splice(index, 0, id)
  return rest
}

/** Returns the current position of an ID, so that a move can be undone. */
export function positionOf(ids: readonly string[], id: string): Position {
  const index = ids.indexOf(id)
  const previous = index > 0 ? ids[index - 1] : undefined
  return previous === undefined ? 'top' : { after: previous }
}

type MapName = 'lists' | 'labels' | 'members' | 'cards' | 'order' | 'details'
type Value<K extends MapName> = BoardData[K] extends ReadonlyMap<string, infer V> ? V : never

/** Returns an open card without content. */
export const emptyCard = (id: string, boardId: string, listId: string, createdBy: string | null, at: string): Card => ({
  id,
  boardId,
  listId,
  title: '',
  number: 0,
  done: false,
  doneAt: null,
  archivedAt: null,
  archivedBy: null,
  labels: [],
  assignees: [],
  dueDate: null,
  dueAt: null,
  startDate: null,
  startAt: null,
  timeZone: null,
  checklistItems: { done: 0, total: 0 },
  comments: 0,
  attachments: 0,
  cover: null,
  createdBy,
  createdAt: at,
  updatedAt: at,
  url: '',
})

/** A modified copy of a BoardData. */
export class Draft {
  private next: { -readonly [K in keyof BoardData]: BoardData[K] }
  private copied = new Set<MapName>()

  constructor(base: BoardData) {
    this.next = { ...base }
  }

  get data(): BoardData {
    return this.next
  }

  private map<K extends MapName>(name: K): Map<string, Value<K>> {
    if (!this.copied.has(name)) {
      this.copied.add(name)
      this.next[name] = new Map(this.next[name] as ReadonlyMap<string, never>) as never
    }
    return this.next[name] as unknown as Map<string, Value<K>>
  }

  set<K extends MapName>(name: K, id: string, value: Value<K>): void {
    this.map(name).set(id, value)
  }

  delete(name: MapName, id: string): void {
    if (this.next[name].has(id)) this.map(name).delete(id)
  }

  /** Changes fields of a record. Does nothing if there is no such record. */
  patch<K extends 'lists' | 'labels' | 'cards' | 'details'>(name: K, id: string, fields: Partial<Value<K>>): void {
    const record = this.next[name].get(id)
    if (record) this.map(name).set(id, { ...record, ...fields } as Value<K>)
  }

  patchBoard(fields: Partial<BoardInfo>): void {
    this.next.board = { ...this.next.board, ...fields }
  }

  /** Returns the labels with the given IDs as a card contains them. */
  labelRefs(ids: readonly string[]): LabelRef[] {
    return ids.flatMap((id) => this.next.labels.get(id) ?? []).map(({ id, name, color }) => ({ id, name, color }))
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

  /** Removes a card from the order of its list. Keeps its record. */
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

  /** Adds a list, or replaces it and keeps its cards. */
  addList(list: List, position: Position): void {
    this.set('lists', list.id, list)
    if (!this.next.order.has(list.id)) this.set('order', list.id, [])
    this.placeList(list.id, position)
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
