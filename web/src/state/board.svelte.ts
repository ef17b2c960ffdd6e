// One open board: the server's state, what is on its way, and the fold of both.
import { all, api, ApiError, body, clientId, data, reason } from '../api/client'
import type { OpenedBoard } from '../api/contract'
import type { Activity } from '../api/types'
import { randomId } from '../lib/id'
import { Draft, fromOpened, type BoardData } from './board-data'
import { applyChange, nothingWanted, type Change, type Wanted } from './changes'
import { drafts } from './drafts.svelte'
import { dropped, fold, named, type Pending } from './fold'
import { watch, type Message, type Person } from './live'
import { openBoard, openedEarly } from './opening'
import {
  naming,
  operation,
  renamed,
  send,
  settle,
  typedFor,
  type Answers,
  type Context,
  type Inputs,
  type Kind,
  type Operation,
} from './operations'
import { session } from './session.svelte'
import { dismissUndo, toast, undoToast } from './toasts.svelte'

export { operation }

/** How to take something back: by operations, whose last answer is told, or by not sending what is still held. */
export type Undo = {
  text: string
  operations: Operation[]
  held?: readonly string[]
  sent?: readonly string[]
  told?: () => void
}

/** For how long an undo stands on the page, and what cannot be taken back is held. */
const undoFor = 8000

const pollEvery = 4000
const retries = [1000, 2000, 4000, 8000, 15_000, 30_000]

export class BoardStore {
  /** What the page shows; null until the board has been loaded. */
  view = $state.raw<BoardData | null>(null)
  /** Why there is nothing to show. */
  failure = $state.raw<ApiError | null>(null)
  pending = $state.raw<readonly Pending[]>([])
  /** The server does not answer; what is done here waits. */
  offline = $state(false)
  people = $state.raw<Person[]>([])
  /** The place of the draft whose text was refused last. */
  refused = $state<string | null>(null)
  #undos = $state.raw<readonly Undo[]>([])
  /** Shown as done, and not sent yet. */
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
  /** Which id of the page became which of the server, and back. */
  #keys = new Map<string, string>()
  #renamed: ((from: string, to: string) => void)[] = []
  #others: ((change: Change) => void)[] = []

  constructor(readonly id: string) {
    const opened = openedEarly(id)
    if (opened) this.#show(opened)
  }

  async open(): Promise<void> {
    addEventListener('online', this.#online)
    addEventListener('beforeunload', this.#leaving)
    addEventListener('pagehide', this.#left)
    if (!this.view) await this.#load()
    if (!this.#closed && this.view) this.#stop = watch(this.id, this.#hear)
  }

  close(): void {
    this.#closed = true
    this.#release(this.#held.map((p) => p.key))
    this.#stop()
    clearInterval(this.#poll)
    clearTimeout(this.#retry)
    removeEventListener('online', this.#online)
    removeEventListener('beforeunload', this.#leaving)
    removeEventListener('pagehide', this.#left)
  }

  /** Does operations now; each is sent in turn. With undo, Ctrl+Z does that. */
  do(operations: Operation | Operation[], undo?: Undo, told?: () => void): void {
    const at = new Date().toISOString()
    const fresh = [operations].flat().map((one, i, all) => ({
      key: randomId(),
      operation: one,
      at,
      told: i === all.length - 1 ? told : undefined,
    }))
    this.pending = [...this.pending, ...fresh]
    if (undo) this.#undos = [...this.#undos.slice(-49), Object.assign(undo, { sent: fresh.map((p) => p.key) })]
    this.#fold()
    void this.#pump()
  }

  /** Does one operation now, and hears what the server answered; null when it refused. */
  ask<K extends Kind>(kind: K, input: Inputs[K], undo?: Undo): Promise<Answers[K] | null> {
    return new Promise((told) => {
      const one = operation(kind, input)
      const at = new Date().toISOString()
      this.pending = [...this.pending, { key: randomId(), operation: one, at, told: told as Pending['told'] }]
      if (undo) this.#undos = [...this.#undos.slice(-49), undo]
      this.#fold()
      void this.#pump()
    })
  }

  /** Shows as done what the server cannot take back, and sends it when there was time to undo it. */
  hold(operations: Operation[], text: string): void {
    const at = new Date().toISOString()
    const fresh = operations.map((one) => ({ key: randomId(), operation: one, at }))
    const undo: Undo = { text, operations: [], held: fresh.map((p) => p.key) }
    this.#held = [...this.#held, ...fresh]
    this.#undos = [...this.#undos.slice(-49), undo]
    this.#fold()
    this.say(undo)
    setTimeout(() => this.#release(undo.held!), undoFor)
  }

  #release(keys: readonly string[]): void {
    const ready = this.#held.filter((p) => keys.includes(p.key))
    if (ready.length === 0) return
    this.#held = this.#held.filter((p) => !keys.includes(p.key))
    const sent = this.#undos.filter((u) => u.held?.some((key) => keys.includes(key)))
    sent.forEach(dismissUndo)
    this.#undos = this.#undos.filter((u) => !sent.includes(u))
    this.pending = [...this.pending, ...ready]
    void this.#pump()
  }

  get canUndo(): boolean {
    return this.#undos.length > 0
  }

  /** Takes back the last thing that was done here. */
  undo(): void {
    const last = this.#undos.at(-1)
    if (!last) return
    this.#takeBack(last)
    toast(`Undone: ${last.text}`)
  }

  #takeBack(undo: Undo): void {
    dismissUndo(undo)
    this.#undos = this.#undos.filter((u) => u !== undo)
    if (undo.held) {
      this.#held = this.#held.filter((p) => !undo.held!.includes(p.key))
      this.#fold()
    } else this.do(undo.operations, undefined, undo.told)
  }

  /** Says what was done, with a button that takes it back. */
  say(undo: Undo, text = undo.text): void {
    undoToast(undo, text, () => {
      if (this.#undos.includes(undo)) this.#takeBack(undo)
    })
  }

  /** Does operations, and says so with a button that takes them back. */
  doWithToast(operations: Operation[], undo: Undo): void {
    this.do(operations, undo)
    this.say(undo)
  }

  /** Can be undone from now on: for what was done and answered in one go. */
  remember(undo: Undo): void {
    this.#undos = [...this.#undos.slice(-49), undo]
  }

  /** What stays the same when a record made here gets its id: a key for lists on the page. */
  keyOf(id: string): string {
    return this.#keys.get(id) ?? id
  }

  /** Calls when a record made here gets its id. */
  onRenamed(then: (from: string, to: string) => void): () => void {
    this.#renamed.push(then)
    return () => (this.#renamed = this.#renamed.filter((one) => one !== then))
  }

  /** Calls for each change that somebody else made, before the page shows it. */
  onOthers(then: (change: Change) => void): () => void {
    this.#others.push(then)
    return () => (this.#others = this.#others.filter((one) => one !== then))
  }

  /** Loads the board again, for what an answer did not tell. */
  reload(): Promise<void> {
    return this.#load()
  }

  /** Loads description, checklists and comments of a card, and the card itself when it is not known. */
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

  // -- the server's state --

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

  // -- what is on its way --

  async #pump(): Promise<void> {
    if (this.#sending || this.#paused) return
    this.#sending = true
    while (this.pending.length > 0 && !this.#paused) {
      const next = this.pending[0]!
      try {
        const answer = await send(next.operation, next.key, { ...this.#context(), now: next.at })
        this.#attempt = 0
        this.offline = false
        this.#settle(next, answer)
      } catch (thrown) {
        if (thrown instanceof ApiError && (thrown.unreachable || thrown.code === 'rate_limited')) this.#wait(thrown)
        else if (thrown instanceof ApiError && thrown.status === 401) this.#giveUp()
        else this.#fail(next, thrown)
      }
    }
    this.#sending = false
  }

  #settle(done: Pending, answer: unknown): void {
    const name = naming(done.operation, answer)
    this.pending = this.pending.slice(1)
    if (this.#server) {
      const draft = new Draft(this.#server)
      settle(draft, done.operation, answer)
      this.#server = draft.data
    }
    if (name) {
      this.#keys.set(name.to, name.from)
      this.pending = named(this.pending, name.from, name.to)
      this.#held = named(this.#held, name.from, name.to)
      this.#undos = this.#undos.map((u) => Object.assign(u, { operations: renamed(u.operations, name.from, name.to) }))
    }
    const typed = typedFor(done.operation, this.id)
    if (typed) drafts.sent(typed.place, typed.text)
    this.#fold()
    if (name) for (const tell of this.#renamed) tell(name.from, name.to)
    done.told?.(answer)
  }

  #fail(failed: Pending, thrown: unknown): void {
    const before = this.pending
    this.pending = dropped(before, failed.key)
    this.#giveBack(before.filter((p) => !this.pending.includes(p)))
    // A refused change left nothing to undo.
    const refused = this.#undos.filter((u) => u.sent?.length === 1 && u.sent[0] === failed.key)
    refused.forEach(dismissUndo)
    this.#undos = this.#undos.filter((u) => !refused.includes(u))
    this.#fold()
    failed.told?.(null)
    toast(reason(thrown), { tone: 'bad' })
  }

  /** What was typed for operations that failed is a draft again. */
  #giveBack(failed: readonly Pending[]): void {
    for (const one of failed.toReversed()) {
      const typed = typedFor(one.operation, this.id)
      if (!typed) continue
      drafts.giveBack(typed.place, typed.text, typed.joint)
      this.refused = typed.place
    }
  }

  /** The person left without signing in again: what was typed waits for them as drafts. */
  #giveUp(): void {
    const left = this.pending
    this.pending = []
    this.#giveBack(left)
    for (const one of left) one.told?.(null)
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
    void this.#pump().then(() => {
      if (!this.#paused) void this.#catchUp()
    })
  }

  #leaving = (event: BeforeUnloadEvent): void => {
    if (this.pending.length > 0) event.preventDefault()
  }

  /** What is still held goes out with the page. */
  #left = (): void => {
    const context = this.#context()
    for (const { operation: one, key, at } of this.#held) send(one, key, { ...context, now: at }).catch(() => undefined)
    this.#held = []
  }

  // -- what others do --

  #hear = (message: Message): void => {
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
        // A lost stream says so at each of its attempts, more often than is polled.
        if (!message.up) {
          this.#poll ??= setInterval(() => this.#pollOnce(), pollEvery)
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
    // Without marks the own changes come too; they wait for their answers.
    if (!document.hidden && this.pending.length === 0) void this.#catchUp()
  }

  #change(change: Change): void {
    if (change.boardVersion <= this.#version) return
    if (change.boardVersion > this.#version + 1) {
      void this.#catchUp()
      return
    }
    if (change.client === clientId) this.#version = change.boardVersion
    else this.#take([change])
  }

  /** Closes the gap between what the page knows and what the server has. */
  #catchUp(): Promise<void> {
    this.#catching ??= this.#gap().finally(() => (this.#catching = null))
    return this.#catching
  }

  async #gap(): Promise<void> {
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
      this.#take(entries)
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.unreachable) this.offline = true
      if (thrown instanceof ApiError && (thrown.status === 404 || thrown.status === 403)) {
        this.failure = thrown
        this.view = null
      }
    }
  }

  #take(entries: readonly Change[]): void {
    if (!this.#server) return
    const draft = new Draft(this.#server)
    const wanted = nothingWanted()
    for (const entry of entries) {
      if (entry.boardVersion <= this.#version) continue
      this.#version = entry.boardVersion
      for (const tell of this.#others) tell(entry)
      applyChange(draft, entry, wanted)
    }
    this.#server = draft.data
    this.#fold()
    void this.#ask(wanted)
  }

  async #ask(wanted: Wanted): Promise<void> {
    if (wanted.board || wanted.members || wanted.cards.size > 20) {
      await this.#load()
      return
    }
    await Promise.allSettled([...wanted.cards].map((id) => this.loadCard(id)))
  }
}

function oldestFirst<T extends { createdAt: string }>(records: T[]): T[] {
  return records.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
}
