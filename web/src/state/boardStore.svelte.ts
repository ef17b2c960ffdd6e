// One open board: the server state, which the live stream keeps up to date, and the
// view, which is the server state with the unsent operations applied.
import { all, api, ApiError, body, clientId, data, reason } from '../api/client'
import type { OpenedBoard } from '../api/contract'
import type { Activity, Attachment } from '../api/types'
import { listenToUploads } from './attachFiles.svelte'
import { Draft, fromOpened, type BoardData } from './boardData'
import { applyChange, noStaleData, type Change, type StaleData } from './changes'
import { drafts } from './drafts.svelte'
import { fold } from './fold'
import { watch, type Message, type Person } from './live'
import { OperationQueue, type AssignedId, type Pending } from './operationQueue.svelte'
import {
  cardIdOf,
  operation,
  reconcile,
  replaceId,
  send,
  typedTextOf,
  type Context,
  type Inputs,
  type Kind,
  type Operation,
  type Results,
} from './operations'
import { addStored } from './operations/attachment'
import { addAvatars } from './avatars.svelte'
import { openBoard, prefetchedBoard } from './prefetchBoard'
import { session } from './session.svelte'
import { toast } from './toasts.svelte'
import { UndoHistory } from './undoHistory.svelte'

/** A step that can be undone, either with further operations or by canceling held operations. */
export type UndoStep = {
  text: string
  /** The operations that undo the step. */
  operations: Operation[]
  /** Keys of the held operations to cancel instead. */
  held?: readonly string[]
  /** Keys of the operations that this step sent. */
  sent?: readonly string[]
  /** Called after the last of `operations` succeeded or failed. */
  onDone?: () => void
}

const pollInterval = 4000 // ms

export class BoardStore {
  /** The board as shown on the page, or null until it has loaded. */
  view = $state.raw<BoardData | null>(null)
  /** The reason why the board cannot be shown, or null. */
  failure = $state.raw<ApiError | null>(null)
  /** Whether the server is unreachable. Operations wait until it is reachable again. */
  offline = $state(false)
  /** The other people who have the board open. */
  people = $state.raw<Person[]>([])
  /** The key of the draft with the most recently rejected text. */
  rejectedDraft = $state<string | null>(null)

  readonly queue: OperationQueue
  readonly history = new UndoHistory<UndoStep>((step) => {
    if (step.held) this.queue.cancel(step.held)
    else this.queue.add(step.operations, step.onDone)
  })

  #server: BoardData | null = null
  #version = 0
  #closed = false
  #unwatch: () => void = () => undefined
  #unlisten: () => void = () => undefined
  #poll: ReturnType<typeof setInterval> | undefined
  /** The catch-up in progress, or null. */
  #catchingUp: Promise<void> | null = null
  #stale = noStaleData()
  #refreshing = false
  /** The temporary IDs of records created on this page, by server ID. */
  #keys = new Map<string, string>()
  /** The number of changes by others to each card and, for null, to the rest of the board. */
  #changesByOthers = new Map<string | null, number>()
  /** The number of changes that this page has saved. */
  #saved = 0
  /** The IDs of the cards to which the server may have attached a file after its upload ended. */
  #uncertainCards = new Set<string>()
  #idListeners = new Set<(from: string, to: string) => void>()
  #changeListeners = new Set<(change: Change) => void>()

  constructor(readonly id: string) {
    this.queue = OperationQueue.of(`board ${id}`, {
      send: (pending) => {
        const { operation, key, at } = pending
        pending.seen ??= this.#countByOthers(operation)
        return send(operation, key, { ...this.#context(), now: at })
      },
      onChange: () => this.#fold(),
      onSent: (sent, result, assigned) => this.#confirm(sent, result, assigned),
      onRejected: (rejected, dropped, thrown) => this.#reject(rejected, dropped, thrown),
      onAbandoned: (dropped) => this.#restoreDrafts(dropped),
      onReleased: (keys) => this.history.drop((step) => step.held?.some((key) => keys.includes(key)) ?? false),
      onReachable: (reachable) => (this.offline = !reachable),
      onResumed: () => void this.#catchUp(),
    })
    const opened = prefetchedBoard(id)
    if (opened) this.#show(opened)
  }

  /** Loads the board and follows its changes. Called again to retry. */
  async open(): Promise<void> {
    this.queue.open()
    this.#unlisten()
    this.#unlisten = listenToUploads({ attached: this.#attached, outcomeUnknown: this.#outcomeUnknown })
    if (!this.view) await this.reload()
    if (this.#closed || !this.view) return
    this.#unwatch()
    this.#unwatch = watch(this.id, this.#onMessage)
  }

  close(): void {
    this.#closed = true
    this.queue.close()
    this.#unwatch()
    this.#unlisten()
    clearInterval(this.#poll)
  }

  /** Applies operations immediately and sends them in order. `undo` becomes the last step of the undo history. */
  do(operations: Operation | Operation[], undo?: UndoStep, onDone?: () => void): void {
    const sent = this.queue.add([operations].flat(), onDone)
    if (undo) this.history.add(Object.assign(undo, { sent }))
  }

  /** Applies operations and shows a toast with an Undo button. */
  doWithToast(operations: Operation[], undo: UndoStep): void {
    this.do(operations, undo)
    this.history.showToast(undo)
  }

  /** Applies one operation immediately and sends it. Returns the server’s result, or null if the operation failed. */
  request<K extends Kind>(kind: K, input: Inputs[K], undo?: UndoStep): Promise<Results[K] | null> {
    return new Promise((resolve) => {
      const sent = this.queue.add([operation(kind, input)], resolve as Pending['onDone'])
      if (undo) this.history.add(Object.assign(undo, { sent }))
    })
  }

  /** Applies irreversible operations immediately, but sends them only when they can no longer be undone. */
  hold(operations: Operation[], text: string): void {
    const undo: UndoStep = { text, operations: [], held: this.queue.hold(operations) }
    this.history.add(undo)
    this.history.showToast(undo)
  }

  /** Returns the key of a record. It stays the same when a new record gets its server ID. */
  keyOf(id: string): string {
    return this.#keys.get(id) ?? id
  }

  /** Calls `listener` when a new record gets its server ID. The returned function removes the listener. */
  onIdAssigned(listener: (from: string, to: string) => void): () => void {
    this.#idListeners.add(listener)
    return () => void this.#idListeners.delete(listener)
  }

  /** Calls `listener` before each change by others is applied. The returned function removes the listener. */
  onRemoteChange(listener: (change: Change) => void): () => void {
    this.#changeListeners.add(listener)
    return () => void this.#changeListeners.delete(listener)
  }

  /**
   * Loads the description, checklists, comments and attachments of a card. Returns the
   * card's board. If that is another board, nothing of the card is stored here.
   */
  async loadCard(cardId: string): Promise<string> {
    const saved = this.#saved
    const [card, comments, attachments] = await Promise.all([
      data(api.GET('/cards/{cardId}', { params: { path: { cardId } } })),
      all((cursor) =>
        api.GET('/cards/{cardId}/comments', { params: { path: { cardId }, query: { limit: 200, cursor } } }),
      ),
      all((cursor) =>
        api.GET('/cards/{cardId}/attachments', { params: { path: { cardId }, query: { limit: 200, cursor } } }),
      ).catch(() => null), // the card is usable without them
    ])
    if (!this.#server || card.boardId !== this.id) return card.boardId
    // The response may be older than what the page knows, and would then remove a new comment.
    if (this.#saved !== saved && this.#server.details.has(cardId)) return this.loadCard(cardId)
    const { checklists, description = '', ...compact } = card
    const draft = new Draft(this.#server)
    const known = draft.data.cards.get(cardId)
    draft.set('cards', cardId, { ...compact, listId: known?.listId ?? compact.listId })
    draft.set('details', cardId, {
      description,
      checklists,
      comments: oldestFirst(comments),
      attachments: attachments ?? draft.data.details.get(cardId)?.attachments ?? null,
    })
    this.#server = draft.data
    this.#fold()
    return card.boardId
  }

  // -- server state --

  /** Loads the board, for example after an operation whose response does not include all changes. */
  async reload(): Promise<void> {
    try {
      const saved = this.#saved
      const opened = await openBoard(this.id)
      if (this.#saved !== saved) return await this.reload() // the response may lack an operation
      const newest = this.#version
      this.#show(opened)
      if (opened.version < newest) void this.#catchUp()
    } catch (thrown) {
      if (thrown instanceof ApiError) this.failure = thrown
      else throw thrown
    }
  }

  #show(opened: OpenedBoard): void {
    addAvatars(opened.members)
    const details = this.#server?.details
    this.#server = fromOpened(opened)
    if (details) this.#server = { ...this.#server, details }
    this.#version = opened.version
    this.failure = null
    this.#fold()
  }

  #context(): Omit<Context, 'now'> {
    const { id, name } = session.me
    return { boardId: this.id, me: { id, name } }
  }

  #fold(): void {
    if (this.#server) this.view = fold(this.#server, this.queue.unsent, this.#context())
  }

  // -- results of operations --

  #confirm(sent: Pending, result: unknown, assigned: AssignedId | null): void {
    if (this.#server) {
      const draft = new Draft(this.#server)
      reconcile(draft, sent.operation, result)
      this.#server = draft.data
    }
    // Changes by others may have come after a response that is only a copy, because the first response was lost.
    if (sent.seen !== this.#countByOthers(sent.operation)) void this.#refresh({ ...noStaleData(), board: true })
    this.#saved++
    if (assigned) {
      const { from, to } = assigned
      this.#keys.set(to, from)
      this.history.update((step) => (step.operations = replaceId(step.operations, from, to)))
    }
    const typed = typedTextOf(sent.operation, this.id)
    if (typed) drafts.sent(typed.draftKey, typed.text)
    this.#fold()
    if (assigned) for (const notify of this.#idListeners) notify(assigned.from, assigned.to)
  }

  #reject(rejected: Pending, dropped: readonly Pending[], thrown: unknown): void {
    this.#restoreDrafts(dropped)
    // A rejected operation changed nothing, so it cannot be undone.
    this.history.drop((step) => step.sent?.length === 1 && step.sent[0] === rejected.key)
    this.#fold()
    toast(reason(thrown), { tone: 'bad' })
  }

  /** Restores the typed text of dropped operations as drafts. */
  #restoreDrafts(dropped: readonly Pending[]): void {
    for (const { operation } of dropped.toReversed()) {
      const typed = typedTextOf(operation, this.id)
      if (!typed) continue
      drafts.restore(typed.draftKey, typed.text, typed.separator)
      this.rejectedDraft = typed.draftKey
    }
  }

  /** Adds a file that this page has attached. The live stream does not report the page's own changes. */
  #attached = (attachment: Attachment): void => {
    const { cardId, id: attachmentId } = attachment
    if (!this.#server || attachment.boardId !== this.id) return
    const operations = [operation('delete_attachment', { cardId, attachmentId })]
    this.history.add({ text: `“${attachment.name}” attached`, operations })
    this.#saved++
    if (!this.#server.details.get(cardId)?.attachments) {
      // The number of attachments may already include this one.
      this.#refreshCard(cardId)
      return
    }
    const draft = new Draft(this.#server)
    addStored(draft, attachment)
    this.#server = draft.data
    this.#fold()
  }

  /** Loads a card to which the server may have attached a file. The server may still be storing it. */
  #outcomeUnknown = (cardId: string): void => {
    if (!this.#server?.cards.has(cardId)) return
    this.#uncertainCards.add(cardId)
    this.#refreshCard(cardId)
  }

  #refreshCard(cardId: string): void {
    void this.#refresh({ ...noStaleData(), cards: new Set([cardId]) })
  }

  // -- changes by others --

  #onMessage = (message: Message): void => {
    switch (message.kind) {
      case 'hello': {
        const version = message.boards[this.id]
        if (version !== undefined && version > this.#version) void this.#catchUp()
        return
      }
      case 'change':
        this.#change(message.change)
        return
      case 'presence':
        this.people = message.people.filter((p) => p.id !== session.me.id)
        return
      case 'gone':
        this.failure = new ApiError(404, 'not_found', 'You no longer have access to this board.')
        this.view = null
        return
      case 'missed':
        void this.reload()
        return
      case 'stream':
        // A lost stream reports every failed attempt to reconnect, so keep an interval that is already running.
        if (!message.up) {
          this.#poll ??= setInterval(() => this.#pollOnce(), pollInterval)
          return
        }
        clearInterval(this.#poll)
        this.#poll = undefined
        if (this.queue.paused) this.queue.resume()
        else this.offline = false
        return
    }
  }

  #pollOnce(): void {
    // Polled changes have no client ID, so this tab’s own changes would look like those of others.
    // Poll only while no operations are pending.
    if (!document.hidden && this.queue.waiting.length === 0) void this.#catchUp()
  }

  #change(change: Change): void {
    if (change.boardVersion <= this.#version) return
    if (change.boardVersion > this.#version + 1) return void this.#catchUp()
    // Only the change contains the position to which the server has restored a card.
    if (change.client !== clientId || change.type === 'card.restored') return this.#applyChanges([change])
    this.#version = change.boardVersion
    const { type, cardId } = change
    if (type === 'attachment.added' && cardId && this.#uncertainCards.has(cardId)) this.#refreshCard(cardId)
  }

  /** Returns the number of changes by others to the card that an operation changes, or to the rest of the board. */
  #countByOthers(operation: Operation): number {
    return this.#changesByOthers.get(cardIdOf(operation) ?? null) ?? 0
  }

  /** Loads and applies the changes that the page has missed. */
  #catchUp(): Promise<void> {
    this.#catchingUp ??= this.#loadChanges().finally(() => (this.#catchingUp = null))
    return this.#catchingUp
  }

  async #loadChanges(): Promise<void> {
    try {
      const entries: Activity[] = []
      let cursor: string | undefined
      do {
        const page = await body(
          api.GET('/boards/{boardId}/changes', {
            params: { path: { boardId: this.id }, query: { since: this.#version, limit: 200, cursor } },
          }),
        )
        entries.push(...page.data)
        cursor = page.nextCursor
        if (entries.length > 2000) return await this.reload()
      } while (cursor)
      if (!this.queue.paused) this.offline = false
      this.#applyChanges(entries)
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.unreachable) this.offline = true
      if (thrown instanceof ApiError && thrown.reason === 'changes_removed') await this.reload()
      if (thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 403)) {
        this.failure = thrown
        this.view = null
      }
    }
  }

  #applyChanges(entries: readonly Change[]): void {
    if (!this.#server) return
    const draft = new Draft(this.#server)
    const stale = noStaleData()
    for (const entry of entries) {
      if (entry.boardVersion <= this.#version) continue
      this.#version = entry.boardVersion
      for (const notify of this.#changeListeners) notify(entry)
      applyChange(draft, entry, stale)
      const { cardId, client } = entry
      if (client !== clientId) this.#changesByOthers.set(cardId, (this.#changesByOthers.get(cardId) ?? 0) + 1)
    }
    this.#server = draft.data
    this.#fold()
    void this.#refresh(stale)
  }

  /**
   * Loads stale data. While a request is running, further stale data is collected and
   * then loaded together. Copying a list, for example, creates an entry for each card.
   */
  async #refresh(stale: StaleData): Promise<void> {
    this.#stale = {
      board: this.#stale.board || stale.board,
      members: this.#stale.members || stale.members,
      cards: new Set([...this.#stale.cards, ...stale.cards]),
    }
    if (this.#refreshing) return
    this.#refreshing = true
    try {
      while (this.#stale.board || this.#stale.members || this.#stale.cards.size > 0) {
        const { board, members, cards } = this.#stale
        this.#stale = noStaleData()
        if (board || members || cards.size > 20) await this.reload()
        else await Promise.allSettled([...cards].map((id) => this.loadCard(id)))
      }
    } finally {
      this.#refreshing = false
    }
  }
}

function oldestFirst<T extends { createdAt: string }>(records: T[]): T[] {
  return records.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
}
