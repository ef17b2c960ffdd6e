// One open board: the server state, the pending operations, and the view folded
// from both.
import { all, api, ApiError, body, clientId, data, reason } from '../api/client'
import type { OpenedBoard } from '../api/contract'
import type { Activity } from '../api/types'
import { randomId } from '../lib/id'
import { Draft, fromOpened, type BoardData } from './boardData'
import { applyChange, nothingStale, type Change, type Stale } from './changes'
import { drafts } from './drafts.svelte'
import { fold, replacePendingId, withoutFailed, type Pending } from './fold'
import { watch, type Message, type Person } from './live'
import { openBoard, prefetchedBoard } from './prefetchBoard'
import {
  assignedId,
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
import { session } from './session.svelte'
import { dismissUndo, toast, undoToast } from './toasts.svelte'

export { operation }

/** A step to undo: by operations, after which onDone is called, or by dropping held operations. */
export type Undo = {
  text: string
  operations: Operation[]
  /** Keys of operations that are not sent yet. */
  held?: readonly string[]
  /** Keys of the operations that this step sent. */
  sent?: readonly string[]
  onDone?: () => void
}

/** How long in ms irreversible operations are held, so that they can be undone. */
const holdTime = 8000

const pollInterval = 4000
const retries = [1000, 2000, 4000, 8000, 15_000, 30_000]

export class BoardStore {
  /** The board that the page shows, or null until it has loaded. */
  view = $state.raw<BoardData | null>(null)
  /** Why the board could not be loaded. */
  failure = $state.raw<ApiError | null>(null)
  pending = $state.raw<readonly Pending[]>([])
  /** Whether the server is unreachable. Operations then wait. */
  offline = $state(false)
  people = $state.raw<Person[]>([])
  /** The key of the draft whose text the server rejected last. */
  rejectedDraft = $state<string | null>(null)
  #undos = $state.raw<readonly Undo[]>([])
  /** Operations that are applied to the view but not sent yet. */
  #held: readonly Pending[] = []

  #server: BoardData | null = null
  #version = 0
  #sending = false
  #paused = false
  #closed = false
  #stop: () => void = () => undefined
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #poll: ReturnType<typeof setInterval> | undefined
  #catching: Promise<void> | null = null
  /** The temporary ID of each record created here, by its server ID. */
  #keys = new Map<string, string>()
  #renamed: ((from: string, to: string) => void)[] = []
  #others: ((change: Change) => void)[] = []

  constructor(readonly id: string) {
    const opened = prefetchedBoard(id)
    if (opened) this.#show(opened)
  }

  async open(): Promise<void> {
    addEventListener('online', this.#online)
    addEventListener('beforeunload', this.#onBeforeUnload)
    addEventListener('pagehide', this.#onPageHide)
    if (!this.view) await this.#load()
    if (!this.#closed && this.view) this.#stop = watch(this.id, this.#onMessage)
  }

  close(): void {
    this.#closed = true
    this.#release(this.#held.map((p) => p.key))
    this.#stop()
    clearInterval(this.#poll)
    clearTimeout(this.#retry)
    removeEventListener('online', this.#online)
    removeEventListener('beforeunload', this.#onBeforeUnload)
    removeEventListener('pagehide', this.#onPageHide)
  }

  /** Applies operations immediately and sends them in order. `undo` is the step that Ctrl+Z undoes. */
  do(operations: Operation | Operation[], undo?: Undo, onDone?: () => void): void {
    const at = new Date().toISOString()
    const fresh = [operations].flat().map((one, i, all) => ({
      key: randomId(),
      operation: one,
      at,
      onDone: i === all.length - 1 ? onDone : undefined,
    }))
    this.pending = [...this.pending, ...fresh]
    if (undo) this.#undos = [...this.#undos.slice(-49), Object.assign(undo, { sent: fresh.map((p) => p.key) })]
    this.#fold()
    void this.#dispatch()
  }

  /** Applies one operation immediately and returns the result of the server, or null if it failed. */
  request<K extends Kind>(kind: K, input: Inputs[K], undo?: Undo): Promise<Results[K] | null> {
    return new Promise((resolve) => {
      const one = operation(kind, input)
      const at = new Date().toISOString()
      this.pending = [...this.pending, { key: randomId(), operation: one, at, onDone: resolve as Pending['onDone'] }]
      if (undo) this.#undos = [...this.#undos.slice(-49), undo]
      this.#fold()
      void this.#dispatch()
    })
  }

  /** Applies irreversible operations immediately, and sends them after the time to undo them has passed. */
  hold(operations: Operation[], text: string): void {
    const at = new Date().toISOString()
    const fresh = operations.map((one) => ({ key: randomId(), operation: one, at }))
    const undo: Undo = { text, operations: [], held: fresh.map((p) => p.key) }
    this.#held = [...this.#held, ...fresh]
    this.#undos = [...this.#undos.slice(-49), undo]
    this.#fold()
    this.showUndo(undo)
    setTimeout(() => this.#release(undo.held!), holdTime)
  }

  #release(keys: readonly string[]): void {
    const ready = this.#held.filter((p) => keys.includes(p.key))
    if (ready.length === 0) return
    this.#held = this.#held.filter((p) => !keys.includes(p.key))
    const expired = this.#undos.filter((u) => u.held?.some((key) => keys.includes(key)))
    expired.forEach(dismissUndo)
    this.#undos = this.#undos.filter((u) => !expired.includes(u))
    this.pending = [...this.pending, ...ready]
    void this.#dispatch()
  }

  get canUndo(): boolean {
    return this.#undos.length > 0
  }

  /** Undoes the last step. */
  undo(): void {
    const last = this.#undos.at(-1)
    if (!last) return
    this.#revert(last)
    toast(`Undone: ${last.text}`)
  }

  #revert(undo: Undo): void {
    dismissUndo(undo)
    this.#undos = this.#undos.filter((u) => u !== undo)
    if (undo.held) {
      this.#held = this.#held.filter((p) => !undo.held!.includes(p.key))
      this.#fold()
    } else this.do(undo.operations, undefined, undo.onDone)
  }

  /** Shows a toast with an Undo button. */
  showUndo(undo: Undo, text = undo.text): void {
    undoToast(undo, text, () => {
      if (this.#undos.includes(undo)) this.#revert(undo)
    })
  }

  /** Applies operations and shows a toast with an Undo button. */
  doWithToast(operations: Operation[], undo: Undo): void {
    this.do(operations, undo)
    this.showUndo(undo)
  }

  /** Adds a step that can be undone, after its result has arrived. */
  remember(undo: Undo): void {
    this.#undos = [...this.#undos.slice(-49), undo]
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
    if (this.#server) this.view = fold(this.#server, [...this.pending, ...this.#held], this.#context())
  }

  // -- pending operations --

  async #dispatch(): Promise<void> {
    if (this.#sending || this.#paused) return
    this.#sending = true
    while (this.pending.length > 0 && !this.#paused) {
      const next = this.pending[0]!
      try {
        const result = await send(next.operation, next.key, { ...this.#context(), now: next.at })
        this.#attempt = 0
        this.offline = false
        this.#confirm(next, result)
      } catch (thrown) {
        if (thrown instanceof ApiError && (thrown.unreachable || thrown.code === 'rate_limited')) this.#wait(thrown)
        else if (thrown instanceof ApiError && thrown.status === 401) this.#abandon()
        else this.#fail(next, thrown)
      }
    }
    this.#sending = false
  }

  #confirm(done: Pending, result: unknown): void {
    const assigned = assignedId(done.operation, result)
    this.pending = this.pending.slice(1)
    if (this.#server) {
      const draft = new Draft(this.#server)
      reconcile(draft, done.operation, result)
      this.#server = draft.data
    }
    if (assigned) {
      const { from, to } = assigned
      this.#keys.set(to, from)
      this.pending = replacePendingId(this.pending, from, to)
      this.#held = replacePendingId(this.#held, from, to)
      this.#undos = this.#undos.map((u) => Object.assign(u, { operations: replaceId(u.operations, from, to) }))
    }
    const typed = typedTextOf(done.operation, this.id)
    if (typed) drafts.sent(typed.draftKey, typed.text)
    this.#fold()
    if (assigned) for (const notify of this.#renamed) notify(assigned.from, assigned.to)
    done.onDone?.(result)
  }

  #fail(failed: Pending, thrown: unknown): void {
    const before = this.pending
    this.pending = withoutFailed(before, failed.key)
    this.#restoreDrafts(before.filter((p) => !this.pending.includes(p)))
    // There is nothing to undo after a rejected operation.
    const rejected = this.#undos.filter((u) => u.sent?.length === 1 && u.sent[0] === failed.key)
    rejected.forEach(dismissUndo)
    this.#undos = this.#undos.filter((u) => !rejected.includes(u))
    this.#fold()
    failed.onDone?.(null)
    toast(reason(thrown), { tone: 'bad' })
  }

  /** Restores the typed text of failed operations as drafts. */
  #restoreDrafts(failed: readonly Pending[]): void {
    for (const one of failed.toReversed()) {
      const typed = typedTextOf(one.operation, this.id)
      if (!typed) continue
      drafts.restore(typed.draftKey, typed.text, typed.separator)
      this.rejectedDraft = typed.draftKey
    }
  }

  /** Drops all pending operations after the person did not sign in again. Typed text is kept as drafts. */
  #abandon(): void {
    const abandoned = this.pending
    this.pending = []
    this.#restoreDrafts(abandoned)
    for (const one of abandoned) one.onDone?.(null)
  }

  #wait(why: ApiError): void {
    this.#paused = true
    this.offline = why.unreachable
    clearTimeout(this.#retry)
    const pause = retries[Math.min(this.#attempt++, retries.length - 1)]!
    this.#retry = setTimeout(this.#online, pause)
  }

  #online = (): void => {
    if (!this.#paused) return
    this.#paused = false
    clearTimeout(this.#retry)
    void this.#dispatch().then(() => {
      if (!this.#paused) void this.#catchUp()
    })
  }

  #onBeforeUnload = (event: BeforeUnloadEvent): void => {
    if (this.pending.length > 0) event.preventDefault()
  }

  /** Sends held operations before the page closes. */
  #onPageHide = (): void => {
    const context = this.#context()
    for (const { operation: one, key, at } of this.#held) send(one, key, { ...context, now: at }).catch(() => undefined)
    this.#held = []
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
        // A lost stream reports each of its attempts, so keep the interval that is already running.
        if (!message.up) {
          this.#poll ??= setInterval(() => this.#pollOnce(), pollInterval)
          return
        }
        clearInterval(this.#poll)
        this.#poll = undefined
        if (this.#paused) this.#online()
        else this.offline = false
        return
    }
  }

  #pollOnce(): void {
    // Polled changes have no client ID, so own changes look like those of others: wait until none are pending.
    if (!document.hidden && this.pending.length === 0) void this.#catchUp()
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
      if (!this.#paused) this.offline = false
      this.#applyChanges(entries)
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.unreachable) this.offline = true
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

  async #refresh(stale: Stale): Promise<void> {
    if (stale.board || stale.members || stale.cards.size > 20) {
      await this.#load()
      return
    }
    await Promise.allSettled([...stale.cards].map((id) => this.loadCard(id)))
  }
}

function oldestFirst<T extends { createdAt: string }>(records: T[]): T[] {
  return records.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
}
