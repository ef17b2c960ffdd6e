// One open board: the server state, kept up to date by the live stream, and the
// view folded from it and the operations that are not sent yet.
import { all, api, ApiError, body, clientId, data, reason } from '../api/client'
import type { OpenedBoard } from '../api/contract'
import type { Activity } from '../api/types'
import { Draft, fromOpened, type BoardData } from './boardData'
import { applyChange, nothingStale, type Change, type Stale } from './changes'
import { drafts } from './drafts.svelte'
import { fold } from './fold'
import { watch, type Message, type Person } from './live'
import { OperationQueue, type AssignedId, type Pending } from './operationQueue.svelte'
import {
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
import { openBoard, prefetchedBoard } from './prefetchBoard'
import { session } from './session.svelte'
import { toast } from './toasts.svelte'
import { UndoHistory } from './undoHistory.svelte'

/** A step to undo: by operations, after which onDone is called, or by canceling held operations. */
export type UndoStep = {
  text: string
  operations: Operation[]
  /** Keys of held operations. */
  held?: readonly string[]
  /** Keys of the operations that this step sent. */
  sent?: readonly string[]
  onDone?: () => void
}

const pollInterval = 4000

export class BoardStore {
  /** The board that the page shows, or null until it has loaded. */
  view = $state.raw<BoardData | null>(null)
  /** Why the board could not be loaded. */
  failure = $state.raw<ApiError | null>(null)
  /** Whether the server is unreachable. Operations then wait. */
  offline = $state(false)
  people = $state.raw<Person[]>([])
  /** The key of the draft whose text the server rejected last. */
  rejectedDraft = $state<string | null>(null)

  readonly queue = new OperationQueue({
    send: ({ operation: one, key, at }) => send(one, key, { ...this.#context(), now: at }),
    onChange: () => this.#fold(),
    onSent: (sent, result, assigned) => this.#confirm(sent, result, assigned),
    onRejected: (rejected, dropped, thrown) => this.#reject(rejected, dropped, thrown),
    onAbandoned: (dropped) => this.#restoreDrafts(dropped),
    onReleased: (keys) => this.history.drop((step) => step.held?.some((key) => keys.includes(key)) ?? false),
    onReachable: (reachable) => (this.offline = !reachable),
    onResumed: () => void this.#catchUp(),
  })

  readonly history = new UndoHistory<UndoStep>((step) => {
    if (step.held) this.queue.cancel(step.held)
    else this.queue.add(step.operations, step.onDone)
  })

  #server: BoardData | null = null
  #version = 0
  #closed = false
  #stop: () => void = () => undefined
  #poll: ReturnType<typeof setInterval> | undefined
  #catching: Promise<void> | null = null
  #stale = nothingStale()
  #refreshing = false
  /** The temporary ID of each record created here, by its server ID. */
  #keys = new Map<string, string>()
  #renamed: ((from: string, to: string) => void)[] = []
  #others: ((change: Change) => void)[] = []

  constructor(readonly id: string) {
    const opened = prefetchedBoard(id)
    if (opened) this.#show(opened)
  }

  async open(): Promise<void> {
    this.queue.open()
    if (!this.view) await this.#load()
    if (!this.#closed && this.view) this.#stop = watch(this.id, this.#onMessage)
  }

  close(): void {
    this.#closed = true
    this.queue.close()
    this.#stop()
    clearInterval(this.#poll)
  }

  /** Applies operations immediately and sends them in order. `undo` is the step that Ctrl+Z undoes. */
  do(operations: Operation | Operation[], undo?: UndoStep, onDone?: () => void): void {
    const sent = this.queue.add([operations].flat(), onDone)
    if (undo) this.history.add(Object.assign(undo, { sent }))
  }

  /** Applies operations and shows a toast with an Undo button. */
  doWithToast(operations: Operation[], undo: UndoStep): void {
    this.do(operations, undo)
    this.history.showToast(undo)
  }

  /** Applies one operation immediately and returns the result of the server, or null if it failed. */
  request<K extends Kind>(kind: K, input: Inputs[K], undo?: UndoStep): Promise<Results[K] | null> {
    return new Promise((resolve) => {
      const sent = this.queue.add([operation(kind, input)], resolve as Pending['onDone'])
      if (undo) this.history.add(Object.assign(undo, { sent }))
    })
  }

  /** Applies irreversible operations immediately, and sends them after the time to undo them has passed. */
  hold(operations: Operation[], text: string): void {
    const undo: UndoStep = { text, operations: [], held: this.queue.hold(operations) }
    this.history.add(undo)
    this.history.showToast(undo)
  }

  /** Returns a key that stays the same when a new record gets its server ID. */
  keyOf(id: string): string {
    return this.#keys.get(id) ?? id
  }

  /** Calls `then` when a new record gets its server ID. The returned function stops it. */
  onRenamed(then: (from: string, to: string) => void): () => void {
    this.#renamed.push(then)
    return () => (this.#renamed = this.#renamed.filter((one) => one !== then))
  }

  /** Calls `then` for each change by others before it is applied. The returned function stops it. */
  onOthers(then: (change: Change) => void): () => void {
    this.#others.push(then)
    return () => (this.#others = this.#others.filter((one) => one !== then))
  }

  /** Reloads the board, for changes that a response does not include. */
  reload(): Promise<void> {
    return this.#load()
  }

  /** Loads a card with its description, checklists and comments. */
  async loadCard(cardId: string): Promise<void> {
    const [card, comments] = await Promise.all([
      data(api.GET('/cards/{cardId}', { params: { path: { cardId } } })),
      all((cursor) =>
        api.GET('/cards/{cardId}/comments', { params: { path: { cardId }, query: { limit: 200, cursor } } }),
      ),
    ])
    if (!this.#server || card.boardId !== this.id) return
    const { checklists, description = '', ...compact } = card
    const draft = new Draft(this.#server)
    const known = draft.data.cards.get(cardId)
    draft.set('cards', cardId, { ...compact, listId: known?.listId ?? compact.listId })
    draft.set('details', cardId, { description, checklists, comments: oldestFirst(comments) })
    this.#server = draft.data
    this.#fold()
  }

  // -- server state --

  async #load(): Promise<void> {
    try {
      this.#show(await openBoard(this.id))
    } catch (thrown) {
      if (thrown instanceof ApiError) this.failure = thrown
      else throw thrown
    }
  }

  #show(opened: OpenedBoard): void {
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
    if (assigned) {
      const { from, to } = assigned
      this.#keys.set(to, from)
      this.history.update((step) => (step.operations = replaceId(step.operations, from, to)))
    }
    const typed = typedTextOf(sent.operation, this.id)
    if (typed) drafts.sent(typed.draftKey, typed.text)
    this.#fold()
    if (assigned) for (const notify of this.#renamed) notify(assigned.from, assigned.to)
  }

  #reject(rejected: Pending, dropped: readonly Pending[], thrown: unknown): void {
    this.#restoreDrafts(dropped)
    // There is nothing to undo after a rejected operation.
    this.history.drop((step) => step.sent?.length === 1 && step.sent[0] === rejected.key)
    this.#fold()
    toast(reason(thrown), { tone: 'bad' })
  }

  /** Restores the typed text of dropped operations as drafts. */
  #restoreDrafts(dropped: readonly Pending[]): void {
    for (const one of dropped.toReversed()) {
      const typed = typedTextOf(one.operation, this.id)
      if (!typed) continue
      drafts.restore(typed.draftKey, typed.text, typed.separator)
      this.rejectedDraft = typed.draftKey
    }
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
      case 'stream':
        // A lost stream reports each attempt to reconnect, so keep the interval that is already running.
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
    // Polled changes have no client ID, so own changes look like those of others: wait until none are pending.
    if (!document.hidden && this.queue.waiting.length === 0) void this.#catchUp()
  }

  #change(change: Change): void {
    if (change.boardVersion <= this.#version) return
    if (change.boardVersion > this.#version + 1) {
      void this.#catchUp()
      return
    }
    if (change.client === clientId) this.#version = change.boardVersion
    else this.#applyChanges([change])
  }

  /** Loads the changes that the page has missed. */
  #catchUp(): Promise<void> {
    this.#catching ??= this.#loadChanges().finally(() => (this.#catching = null))
    return this.#catching
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
        if (entries.length > 2000) {
          await this.#load()
          return
        }
      } while (cursor)
      if (!this.queue.paused) this.offline = false
      this.#applyChanges(entries)
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.unreachable) this.offline = true
      if (thrown instanceof ApiError && thrown.reason === 'changes_removed') await this.#load()
      if (thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 403)) {
        this.failure = thrown
        this.view = null
      }
    }
  }

  #applyChanges(entries: readonly Change[]): void {
    if (!this.#server) return
    const draft = new Draft(this.#server)
    const stale = nothingStale()
    for (const entry of entries) {
      if (entry.boardVersion <= this.#version) continue
      this.#version = entry.boardVersion
      for (const notify of this.#others) notify(entry)
      applyChange(draft, entry, stale)
    }
    this.#server = draft.data
    this.#fold()
    void this.#refresh(stale)
  }

  /** Loads stale data. Data that becomes stale meanwhile is loaded together: copying a list makes an entry for each card. */
  async #refresh(stale: Stale): Promise<void> {
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
        this.#stale = nothingStale()
        if (board || members || cards.size > 20) await this.#load()
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
