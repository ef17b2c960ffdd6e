// The operations that the server has not performed yet. Waiting operations are sent
// in order. Held operations wait for a few seconds first, so that they can be canceled. A
// queue whose page was closed goes on until everything is sent.
import { ApiError } from '../api/client'
import { connection } from '../api/connection.svelte'
import { randomId } from '../lib/id'
import { deliver } from './live'
import { assignedId, refersTo, replaceId, type Operation } from './operations'
import { onSessionCleared, session } from './session.svelte'

/** An operation that the server has not performed yet. */
export type Pending = {
  /** The idempotency key, which is the same for all attempts. */
  key: string
  operation: Operation
  /** When the user performed the operation. */
  at: string
  /** Called with the result, or with null if the operation failed. */
  onDone?: (result: unknown) => void
  /** How many changes by others to the same card the page had seen when the operation was first sent. Set by the board. */
  seen?: number
}

/** The temporary ID of a new record, and its server ID. */
export type AssignedId = { from: string; to: string }

/** The callbacks of a queue. */
export type QueueOwner = {
  /** Sends an operation and returns the server’s result. */
  send: (pending: Pending) => Promise<unknown>
  /** Called after operations were added or canceled. */
  onChange?: () => void
  /** Called after the server performed an operation. */
  onSent: (sent: Pending, result: unknown, assigned: AssignedId | null) => void
  /** Called after the server rejected an operation. `dropped` contains it and the operations that depended on it. */
  onRejected: (rejected: Pending, dropped: readonly Pending[], thrown: unknown) => void
  /** Called after all waiting operations were dropped because the user did not sign in again. */
  onAbandoned?: (dropped: readonly Pending[]) => void
  /** Called when held operations can no longer be canceled. */
  onReleased?: (keys: readonly string[]) => void
  /** Called with whether the server is reachable, after an operation was performed or postponed. */
  onReachable: (reachable: boolean) => void
  /** Called after a pause, when the waiting operations were sent. */
  onResumed?: () => void
}

/** The time in ms during which held operations can be canceled. */
const holdTime = 8000

/** The delays between attempts in ms. The last delay repeats. */
const retryDelays = [1000, 2000, 4000, 8000, 15_000, 30_000]

/** The queues with unsent operations whose pages were closed. */
const closedQueues = new Set<OperationQueue>()

onSessionCleared(() => {
  for (const queue of closedQueues) queue.discard()
})

/**
 * Sends operations one after another. If the server is unreachable or the rate limit is
 * reached, the queue pauses, then retries the same operation.
 */
export class OperationQueue {
  /** The waiting operations, oldest first. */
  waiting = $state.raw<readonly Pending[]>([])
  #held: readonly Pending[] = []
  #sending = false
  #closed = false
  /** Why sending is paused, or null. */
  #problem: ApiError | null = null
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #endWait: (() => void) | undefined

  private constructor(
    private readonly page: string,
    private owner: QueueOwner,
  ) {}

  /** Returns the queue of a page. It starts with the operations that were unsent when the page was closed. */
  static of(page: string, owner: QueueOwner): OperationQueue {
    const queue = [...closedQueues].find((q) => q.page === page) ?? new OperationQueue(page, owner)
    queue.owner = owner
    return queue
  }

  /** All operations that the server has not performed yet, in order. */
  get unsent(): readonly Pending[] {
    return [...this.waiting, ...this.#held]
  }

  /** Whether sending is paused until the next retry. */
  get paused(): boolean {
    return this.#problem !== null
  }

  /** Starts listening to the browser. Resumes when it is online, and sends held operations when the page closes. */
  open(): void {
    this.#closed = false
    this.#end()
    this.#listen()
    void this.#dispatch()
  }

  /** Sends the held operations. The queue ends when everything is sent. */
  close(): void {
    if (session.userId === null) this.discard()
    this.#release(this.#held.map((p) => p.key))
    this.#closed = true
    if (this.waiting.length === 0) this.#end()
    else this.#continue()
  }

  /** Drops all operations. */
  discard(): void {
    this.waiting = []
    this.#held = []
    this.#end()
  }

  /** Adds operations, sends them, and returns their keys. `onDone` is called with the result of the last one. */
  add(operations: readonly Operation[], onDone?: Pending['onDone']): string[] {
    const added = pendingOf(operations)
    const last = added.at(-1)
    if (last) last.onDone = onDone
    this.waiting = [...this.waiting, ...added]
    if (this.#closed) this.#continue() // a message of the page offers to undo a change
    this.owner.onChange?.()
    void this.#dispatch()
    return added.map((p) => p.key)
  }

  /** Adds operations that are sent only after the time to cancel them has passed. Returns their keys. */
  hold(operations: readonly Operation[]): string[] {
    const added = pendingOf(operations)
    const keys = added.map((p) => p.key)
    this.#held = [...this.#held, ...added]
    this.owner.onChange?.()
    setTimeout(() => this.#release(keys), holdTime)
    return keys
  }

  /** Drops the held operations with these keys. */
  cancel(keys: readonly string[]): void {
    this.#held = this.#held.filter((p) => !keys.includes(p.key))
    this.owner.onChange?.()
  }

  /** Ends a pause and retries immediately. */
  resume = (): void => {
    if (!this.paused) return
    this.#problem = null
    clearTimeout(this.#retry)
    void this.#dispatch().then(() => {
      if (!this.paused) this.owner.onResumed?.()
    })
  }

  #listen(): void {
    addEventListener('online', this.resume)
    addEventListener('beforeunload', this.#onBeforeUnload)
    addEventListener('pagehide', this.#onPageHide)
  }

  /** Continues although the page is closed. */
  #continue(): void {
    closedQueues.add(this)
    this.#listen()
    this.#updateWait()
  }

  #end(): void {
    clearTimeout(this.#retry)
    this.#problem = null
    closedQueues.delete(this)
    this.#updateWait()
    removeEventListener('online', this.resume)
    removeEventListener('beforeunload', this.#onBeforeUnload)
    removeEventListener('pagehide', this.#onPageHide)
  }

  /** Lets all pages show while the changes of this closed page wait for the connection. */
  #updateWait(): void {
    this.#endWait?.()
    this.#endWait = this.#closed && this.#problem?.unreachable ? connection.wait('change') : undefined
  }

  #release(keys: readonly string[]): void {
    const ready = this.#held.filter((p) => keys.includes(p.key))
    if (ready.length === 0) return
    this.#held = this.#held.filter((p) => !keys.includes(p.key))
    this.owner.onReleased?.(keys)
    this.waiting = [...this.waiting, ...ready]
    void this.#dispatch()
  }

  async #dispatch(): Promise<void> {
    if (this.#sending || this.paused) return
    this.#sending = true
    while (this.waiting.length > 0 && !this.paused) {
      const next = this.waiting[0]!
      try {
        const result = await this.owner.send(next)
        this.#attempt = 0
        this.owner.onReachable(true)
        this.#confirm(next, result)
      } catch (thrown) {
        if (thrown instanceof ApiError && (thrown.unreachable || thrown.code === 'rate_limited')) this.#pause(thrown)
        else if (thrown instanceof ApiError && thrown.status === 401) this.#abandon()
        else this.#reject(next, thrown)
      }
    }
    this.#sending = false
    if (!this.#closed || this.waiting.length > 0) return
    this.#end()
    deliver({ kind: 'missed' })
  }

  #confirm(sent: Pending, result: unknown): void {
    const assigned = assignedId(sent.operation, result)
    this.waiting = this.waiting.slice(1)
    if (assigned) {
      this.waiting = withAssignedId(this.waiting, assigned)
      this.#held = withAssignedId(this.#held, assigned)
    }
    this.owner.onSent(sent, result, assigned)
    sent.onDone?.(result)
  }

  #reject(rejected: Pending, thrown: unknown): void {
    const before = this.unsent
    const kept = new Set(withoutDependents(before, rejected.key))
    const dropped = before.filter((p) => !kept.has(p))
    this.waiting = this.waiting.filter((p) => kept.has(p))
    this.#held = this.#held.filter((p) => kept.has(p))
    this.owner.onRejected(rejected, dropped, thrown)
    for (const pending of dropped) pending.onDone?.(null)
  }

  #abandon(): void {
    const dropped = this.waiting
    this.waiting = []
    this.owner.onAbandoned?.(dropped)
    for (const pending of dropped) pending.onDone?.(null)
  }

  #pause(error: ApiError): void {
    this.#problem = error
    this.#updateWait()
    this.owner.onReachable(!error.unreachable)
    clearTimeout(this.#retry)
    const delay = retryDelays[Math.min(this.#attempt++, retryDelays.length - 1)]!
    this.#retry = setTimeout(this.resume, delay)
  }

  #onBeforeUnload = (event: BeforeUnloadEvent): void => {
    if (this.waiting.length > 0) event.preventDefault()
  }

  /** Sends held operations before the page closes. */
  #onPageHide = (): void => {
    for (const pending of this.#held) this.owner.send(pending).catch(() => undefined)
    this.#held = []
  }
}

function pendingOf(operations: readonly Operation[]): Pending[] {
  const at = new Date().toISOString()
  return operations.map((operation) => ({ key: randomId(), operation, at }))
}

/** Returns the operations without the one with `key`, and without those that refer to the record that it creates. */
export function withoutDependents(pending: readonly Pending[], key: string): Pending[] {
  const rejected = pending.find((p) => p.key === key)
  let rest = pending.filter((p) => p.key !== key)
  const created = rejected && 'id' in rejected.operation.input ? (rejected.operation.input.id as string) : null
  if (created === null) return rest
  const dependents = rest.filter((p) => refersTo(p.operation.input, created))
  for (const p of dependents) rest = withoutDependents(rest, p.key)
  return rest
}

/** Returns the operations with a temporary ID replaced by the server ID. */
export function withAssignedId(pending: readonly Pending[], { from, to }: AssignedId): Pending[] {
  return pending.map((p) =>
    refersTo(p.operation.input, from) ? { ...p, operation: replaceId(p.operation, from, to) } : p,
  )
}
