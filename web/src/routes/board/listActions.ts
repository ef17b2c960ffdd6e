// The actions on lists that menus, dialogs and dragging share. Each can be undone, except a
// move by a job that removes labels or people.
import type { Card, Job, Position } from '../../api/types'
import { temporaryId } from '../../lib/id'
import { positionOf } from '../../state/boardData'
import { endText, isJob, JobFollower, jobText } from '../../state/jobs.svelte'
import { operation, type Operation } from '../../state/operations'
import type { Dropped } from '../../state/operations/card'
import { toast } from '../../state/toasts.svelte'
import type { BoardPage } from './boardPage.svelte'
import { droppedText, isAtPosition } from './toastText'

export class ListActions {
  constructor(private readonly page: BoardPage) {}

  create(name: string): void {
    const text = name.trim()
    if (!text || !this.page.checkCanEdit()) return
    const id = temporaryId()
    this.page.store.do(operation('create_list', { id, name: text, position: 'bottom' }), {
      text: 'list added',
      operations: [operation('archive_list', { listId: id })],
    })
  }

  rename(listId: string, name: string): void {
    const list = this.page.view.lists.get(listId)
    const text = name.trim()
    if (!list || !text || text === list.name || !this.page.checkCanEdit()) return
    this.page.store.do(operation('update_list', { listId, name: text }), {
      text: 'list renamed',
      operations: [operation('update_list', { listId, name: list.name })],
    })
  }

  setLimit(listId: string, wipLimit: number | null, wipMode: 'soft' | 'hard'): void {
    const list = this.page.view.lists.get(listId)
    if (!list || (list.wipLimit === wipLimit && list.wipMode === wipMode) || !this.page.checkCanEdit()) return
    this.page.store.do(operation('update_list', { listId, wipLimit, wipMode }), {
      text: 'limit changed',
      operations: [operation('update_list', { listId, wipLimit: list.wipLimit, wipMode: list.wipMode })],
    })
  }

  move(listId: string, position: Position): void {
    if (!this.page.checkCanEdit() || isAtPosition(this.page.view.listOrder, listId, position)) return
    this.page.store.do(operation('move_list', { listId, position }), {
      text: 'list moved',
      operations: [operation('move_list', { listId, position: positionOf(this.page.view.listOrder, listId) })],
    })
  }

  archive(listId: string): void {
    if (!this.page.checkCanEdit()) return
    this.page.store.doWithToast([operation('archive_list', { listId })], {
      text: `List ${this.page.view.lists.get(listId)?.name ?? ''} archived`,
      operations: [operation('restore_list', { listId, position: positionOf(this.page.view.listOrder, listId) })],
    })
  }

  /** Copies a list with its open cards. The copy appears to the right of the list. */
  async copy(listId: string, name: string): Promise<void> {
    const text = name.trim()
    if (!text || !this.page.checkCanEdit()) return
    const { store } = this.page
    const id = temporaryId()
    const undo = { text: `List copied as ${text}`, operations: [operation('archive_list', { listId: id })] }
    const created = await store.request('copy_list', { id, listId, name: text, position: { after: listId } }, undo)
    if (!created) return
    if (isJob(created)) {
      store.history.drop((step) => step === undo)
      this.followCopy(created)
      return
    }
    store.history.showToast(undo)
    await store.reload() // the response does not include the cards
  }

  /** Follows a job that copies a list. When the job is done, shows the copy. */
  private followCopy(started: Job): void {
    const { store } = this.page
    const follower = new JobFollower(started, (job) => {
      stop()
      if (!job.listId) {
        toast(endText(job), { tone: job.state === 'failed' ? 'bad' : 'plain' })
        return
      }
      const undo = {
        text: `List copied as ${job.name}`,
        operations: [operation('archive_list', { listId: job.listId })],
      }
      store.history.add(undo)
      store.history.showToast(undo)
      void store.reload() // changes by this tab are not applied from the live stream
    })
    const stop = follower.follow()
    toast(`${jobText(started)}. The list will appear when it’s complete.`, {
      action: { label: 'Cancel', run: () => void follower.cancel() },
    })
  }

  /** Moves a list with its cards to another board. A toast lists the labels and people that the cards lose. */
  async moveToBoard(listId: string, to: { boardId: string; boardName: string }): Promise<void> {
    const { store, view } = this.page
    const list = view.lists.get(listId)
    if (!list || !this.page.checkCanEdit()) return
    const position = positionOf(view.listOrder, listId)
    const cards = (view.order.get(listId) ?? []).flatMap((id) => view.cards.get(id) ?? [])
    const moved = await store.request('move_list_to_board', { listId, boardId: to.boardId, position: 'bottom' })
    if (!moved) return
    const text = `List ${list.name} moved to ${to.boardName}`
    const undoOperation = operation('move_list_to_board', { listId, boardId: store.id, position })
    if (isJob(moved)) {
      this.followMove(moved, text, undoOperation)
      return
    }
    const labels = new Set(moved.droppedLabels.map((l) => l.id))
    const people = new Set(moved.droppedAssignees.map((a) => a.id))
    this.addMoveUndo(text, moved, [undoOperation, ...restoreDropped(cards, labels, people)])
  }

  /** Follows a job that moves a list to another board. */
  private followMove(started: Job, text: string, undoOperation: Operation): void {
    const { store } = this.page
    const follower = new JobFollower(started, (job) => {
      stop()
      if (job.state !== 'done') {
        toast(endText(job), { tone: job.state === 'failed' ? 'bad' : 'plain' })
        void store.reload() // the list is still on this board
        return
      }
      const dropped = job.droppedLabels.length + job.droppedAssignees.length > 0
      // Show no Undo button if labels or people were removed, because moving the list back would not restore them.
      if (dropped) toast(`${text}. ${droppedText([job])}`)
      else this.addMoveUndo(text, job, [undoOperation])
    })
    const stop = follower.follow()
    toast(`${jobText(started)}…`)
  }

  private addMoveUndo(text: string, dropped: Dropped, operations: Operation[]): void {
    const { store } = this.page
    const undo = { text, operations, onDone: () => void store.reload() } // the store has removed the cards of the list
    store.history.add(undo)
    const note = droppedText([dropped])
    store.history.showToast(undo, note ? `${text}. ${note}` : text)
  }
}

/** Returns the operations that restore the labels and people that cards lost in a move. */
function restoreDropped(cards: readonly Card[], labels: ReadonlySet<string>, people: ReadonlySet<string>): Operation[] {
  return cards.flatMap((c) => {
    const lostLabels = c.labels.filter((l) => labels.has(l.id)).map((l) => l.id)
    const lostPeople = c.assignees.filter((a) => people.has(a.id)).map((a) => a.id)
    return [
      ...(lostLabels.length > 0 ? [operation('set_card_labels', { cardId: c.id, add: lostLabels })] : []),
      ...(lostPeople.length > 0 ? [operation('set_card_assignees', { cardId: c.id, add: lostPeople })] : []),
    ]
  })
}
