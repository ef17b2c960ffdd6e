// The actions on cards that keyboard shortcuts, menus and pickers share. All but restore and createLabel can be undone.
import type { Card, LabelColor, Position } from '../../api/types'
import { temporaryId } from '../../lib/id'
import { positionOf } from '../../state/boardData'
import { inputOf, withDates, type DateChange } from '../../state/due'
import { datesOperation, operation, type CopyOptions, type Dropped, type Operation } from '../../state/operations'
import { toast } from '../../state/toasts.svelte'
import type { BoardPage } from './boardPage.svelte'
import { cardsText, droppedText, isAtPosition } from './toastText'

/** A list of this or another board. */
export type TargetList = { boardId: string; boardName: string; listId: string; listName: string }

export class CardActions {
  constructor(private readonly page: BoardPage) {}

  #cardsOf(ids: readonly string[]): Card[] {
    return ids.flatMap((id) => this.page.card(id) ?? [])
  }

  /** Moves cards to a position. They keep their order. */
  move(ids: readonly string[], listId: string, position: Position, withToast = false): void {
    if (!this.page.checkCanEdit()) return
    const cards = this.#cardsOf(ids)
    const undoOperations = cards.map((c) =>
      operation('move_card', {
        cardId: c.id,
        listId: c.listId,
        position: positionOf(this.page.view.order.get(c.listId) ?? [], c.id),
      }),
    )
    let last: string | null = null
    const operations: Operation[] = []
    for (const c of cards) {
      const at: Position = last ? { after: last } : position
      const same = !last && c.listId === listId && isAtPosition(this.page.view.order.get(listId) ?? [], c.id, position)
      if (!same) operations.push(operation('move_card', { cardId: c.id, listId, position: at }))
      last = c.id
    }
    if (operations.length === 0) return
    const name = this.page.view.lists.get(listId)?.name ?? ''
    const text = `${cardsText(cards)} moved to ${name}`
    const undo = { text, operations: undoOperations }
    if (withToast) this.page.store.doWithToast(operations, undo)
    else this.page.store.do(operations, undo)
  }

  archive(ids: readonly string[]): void {
    if (!this.page.checkCanEdit()) return
    const cards = this.#cardsOf(ids)
    if (cards.length === 0) return
    this.page.focusAdjacent(cards)
    this.page.store.doWithToast(
      cards.map((c) => operation('archive_card', { cardId: c.id })),
      {
        text: `${cardsText(cards)} archived`,
        operations: cards.map((c) =>
          operation('restore_card', {
            cardId: c.id,
            position: positionOf(this.page.view.order.get(c.listId) ?? [], c.id),
          }),
        ),
      },
    )
    this.page.selected.clear()
  }

  restore(id: string): void {
    if (!this.page.checkCanEdit()) return
    this.page.store.do(operation('restore_card', { cardId: id }))
  }

  setDone(ids: readonly string[], done?: boolean): void {
    if (!this.page.checkCanEdit()) return
    const cards = this.#cardsOf(ids)
    if (cards.length === 0) return
    const to = done ?? !cards.every((c) => c.done)
    const changed = cards.filter((c) => c.done !== to)
    this.page.store.do(
      changed.map((c) => operation('update_card', { cardId: c.id, done: to })),
      {
        text: `${cardsText(changed)} marked as ${to ? 'done' : 'not done'}`,
        operations: changed.map((c) => operation('update_card', { cardId: c.id, done: !to })),
      },
    )
  }

  setTitle(id: string, title: string): void {
    const card = this.page.card(id)
    const text = title.trim()
    if (!card || !text || text === card.title || !this.page.checkCanEdit()) return
    this.page.store.do(operation('update_card', { cardId: id, title: text }), {
      text: 'title changed',
      operations: [operation('update_card', { cardId: id, title: card.title })],
    })
  }

  setDescription(id: string, description: string): void {
    const previous = this.page.view.details.get(id)?.description
    if (previous === undefined || previous === description || !this.page.checkCanEdit()) return
    this.page.store.do(operation('update_card', { cardId: id, description }), {
      text: 'description changed',
      operations: [operation('update_card', { cardId: id, description: previous })],
    })
  }

  /** Adds a label to all cards, or removes it if all of them have it. */
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
    if (!this.page.checkCanEdit()) return
    const cards = this.#cardsOf(ids)
    if (cards.length === 0) return
    const remove = cards.every(has)
    const changed = cards.filter((c) => has(c) === remove)
    const change = (c: Card, remove: boolean) => operation(kind, { cardId: c.id, [remove ? 'remove' : 'add']: [id] })
    this.page.store.do(
      changed.map((c) => change(c, remove)),
      { text, operations: changed.map((c) => change(c, !remove)) },
    )
  }

  /** Sets the due date, the start date or both. An omitted date stays unchanged, and null removes a date. */
  setDates(ids: readonly string[], to: DateChange): void {
    if (!this.page.checkCanEdit()) return
    const cards = this.#cardsOf(ids)
    if (cards.length === 0) return
    this.page.store.do(
      cards.map((c) => datesOperation(c.id, withDates(c, to))),
      {
        text: to.due === undefined ? 'start date changed' : 'due date changed',
        operations: cards.map((c) => datesOperation(c.id, inputOf(c))),
      },
    )
  }

  /**
   * Creates a card for each line of the text. Returns the temporary ID of the last card, or null
   * if no card was created.
   */
  create(listId: string, text: string, position: Position): string | null {
    const titles = text
      .split('\n')
      .map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)]|\[[ x]?\])\s+/, '').trim())
      .filter(Boolean)
    if (titles.length === 0 || !this.page.checkCanEdit()) return null
    const { count, max } = this.page.view.board.limits.openCards
    if (count + titles.length > max) {
      toast(`A board can have at most ${max} cards. Archive some to add more.`, { tone: 'bad' })
      return null
    }
    let at = position
    const operations: Operation[] = []
    const ids: string[] = []
    const { labels, people } = this.page.filter
    for (const title of titles) {
      const id = temporaryId()
      // Add the filter's first label and person, so that the new card matches them.
      operations.push(
        operation('create_card', {
          id,
          listId,
          title,
          position: at,
          labels: labels.slice(0, 1),
          assignees: people.filter((p) => p !== 'none').slice(0, 1),
        }),
      )
      ids.push(id)
      at = { after: id }
    }
    this.page.store.do(operations, {
      text: titles.length === 1 ? 'card added' : `${titles.length} cards added`,
      operations: ids.map((id) => operation('archive_card', { cardId: id })),
    })
    return ids.at(-1) ?? null
  }

  /** Copies a card below itself, or to a list of this or another board. */
  async copy(id: string, to?: TargetList, options: CopyOptions = {}, position?: Position): Promise<void> {
    if (!this.page.checkCanEdit()) return
    const copyId = temporaryId()
    const sameBoard = !to || to.boardId === this.page.store.id
    const at: Position = position ?? (!to || to.listId === this.page.card(id)?.listId ? { after: id } : 'bottom')
    const undo = {
      text: to ? `Card copied to ${sameBoard ? to.listName : `${to.boardName} › ${to.listName}`}` : 'Card copied',
      operations: [operation('archive_card', { cardId: copyId })],
    }
    const created = await this.page.store.request(
      'copy_card',
      { id: copyId, cardId: id, position: at, ...(to ? { listId: to.listId } : {}), ...options },
      undo,
    )
    if (created) this.page.store.history.showToast(undo)
  }

  /** Moves cards to a list of another board. A toast lists the labels and people that the cards lose. */
  async moveToBoard(ids: readonly string[], to: TargetList, position: Position): Promise<void> {
    if (!this.page.checkCanEdit()) return
    const { store, view } = this.page
    const cards = this.#cardsOf(ids)
    if (cards.length === 0) return
    const returnInputs = cards.map((c) => ({
      cardId: c.id,
      boardId: store.id,
      listId: c.listId,
      position: positionOf(view.order.get(c.listId) ?? [], c.id),
    }))
    this.page.focusAdjacent(cards)
    this.page.selected.clear()
    let last: string | null = null
    const requests = cards.map((c) => {
      const at: Position = last ? { after: last } : position
      last = c.id
      return store.request('move_card_to_board', { cardId: c.id, boardId: to.boardId, listId: to.listId, position: at })
    })
    const moved = (await Promise.all(requests)).flatMap((dropped, i) =>
      dropped ? [{ dropped, returnInput: returnInputs[i]! }] : [],
    )
    if (moved.length === 0) return
    const undo = {
      text: `${cardsText(cards)} moved to ${to.boardName} › ${to.listName}`,
      operations: moved.flatMap(({ dropped, returnInput }) => [
        operation('move_card_to_board', returnInput),
        ...restoreDropped(returnInput.cardId, dropped),
      ]),
    }
    store.history.add(undo)
    const note = droppedText(moved.map((m) => m.dropped))
    store.history.showToast(undo, note ? `${undo.text}. ${note}` : undo.text)
  }

  createLabel(name: string, color: LabelColor, cards: readonly string[]): void {
    if (!this.page.checkCanEdit()) return
    const id = temporaryId()
    this.page.store.do([
      operation('create_label', { id, name: name.trim(), color }),
      ...cards.map((cardId) => operation('set_card_labels', { cardId, add: [id] })),
    ])
  }
}

/** Returns the operations that restore the labels and people that a card lost in a move. */
function restoreDropped(cardId: string, { droppedLabels, droppedAssignees }: Dropped): Operation[] {
  return [
    ...(droppedLabels.length > 0
      ? [operation('set_card_labels', { cardId, add: droppedLabels.map((l) => l.id) })]
      : []),
    ...(droppedAssignees.length > 0
      ? [operation('set_card_assignees', { cardId, add: droppedAssignees.map((a) => a.id) })]
      : []),
  ]
}
