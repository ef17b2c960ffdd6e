// The operations of a page that the server does not have yet: those that wait to
// be sent, in order, and those that are held back for a few seconds.
import { ApiError } from '../api/client'
import { randomId } from '../lib/id'
import { assignedId, refersTo, replaceId, type Operation } from './operations'

/** An operation that is not sent yet, with the idempotency key of all its attempts. */
export type Pending = {
  key: string
  operation: Operation
  /** When the person did it. */
  at: string
  /** Called with the result, or with null if the operation failed. */
  onDone?: (result: unknown) => void
}

/** The temporary ID of a new record, and the ID that the server gave it. */
export type AssignedId = { from: string; to: string }

/** What a queue needs from the store that owns it. */
export type QueueOwner = {
  /** Sends an operation and returns the result of the server. */
  send: (pending: Pending) => Promise<unknown>
  /** Called after operations were added or canceled. */
  onChange?: () => void
  /** Called after the server performed an operation. */
  onSent: (sent: Pending, result: unknown, assigned: AssignedId | null) => void
  /** Called after the server rejected an operation. `dropped` also contains those that depended on it. */
  onRejected: (rejected: Pending, dropped: readonly Pending[], thrown: unknown) => void
  /** Called after all waiting operations were dropped, because the person did not sign in again. */
  onAbandoned?: (dropped: readonly Pending[]) => void
  /** Called when held operations can no longer be canceled. */
  onReleased?: (keys: readonly string[]) => void
  /** Called when the server becomes reachable or unreachable. */
  onReachable: (reachable: boolean) => void
  /** Called after a pause, when operations are being sent again. */
  onResumed?: () => void
}

/** How long in ms irreversible operations are held, so that they can be undone. */
const holdTime = 8000

const retryDelays = [1000, 2000, 4000, 8000, 15_000, 30_000]

/**
 * Sends operations one after another. While the server is unreachable it pauses
 * and retries; the order stays the same.
 */
export class OperationQueue {
  /** The operations that wait to be sent, oldest first. */
  waiting = $state.raw<readonly Pending[]>([])
  #held: readonly Pending[] = []
  #sending = false
  #paused = false
  #attempt = 0
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly owner: QueueOwner) {}

  /** All operations that the server does not have yet, in the order in which they apply. */
  get unsent(): readonly Pending[] {
    return [...this.waiting, ...this.#held]
  }

  /** Whether sending is paused until the next retry. */
  get paused(): boolean {
    return this.#paused
  }

  /** Starts to listen to the browser: whether it is online, and when the page closes. */
  open(): void {
    addEventListener('online', this.resume)
    addEventListener('beforeunload', this.#onBeforeUnload)
    addEventListener('pagehide', this.#onPageHide)
  }

  /** Releases the held operations, and stops retrying. */
  close(): void {
    this.#release(this.#held.map((p) => p.key))
    clearTimeout(this.#retry)
    removeEventListener('online', this.resume)
    removeEventListener('beforeunload', this.#onBeforeUnload)
    removeEventListener('pagehide', this.#onPageHide)
  }

  /** Adds operations and starts to send them. It returns their keys. `onDone` is called with the last result. */
  add(operations: readonly Operation[], onDone?: Pending['onDone']): string[] {
    const added = pendingOf(operations)
    const last = added.at(-1)
    if (last) last.onDone = onDone
    this.waiting = [...this.waiting, ...added]
    this.owner.onChange?.()
    void this.#dispatch()
    return added.map((p) => p.key)
  }

  /** Adds operations that are sent only after the time to cancel them has passed. It returns their keys. */
  hold(operations: readonly Operation[]): string[] {
    const added = pendingOf(operations)
    const keys = added.map((p) => p.key)
    this.#held = [...this.#held, ...added]
    this.owner.onChange?.()
    setTimeout(() => this.#release(keys), holdTime)
    return keys
  }

  /** Drops held operations. */
  cancel(keys: readonly string[]): void {
    this.#held = this.#held.filter((p) => !keys.includes(p.key))
    this.owner.onChange?.()
  }

  /** Ends a pause. */
  resume = (): void => {
    if (!this.#paused) return
    this.#paused = false
    clearTimeout(this.#retry)
    void this.#dispatch().then(() => {
      if (!this.#paused) this.owner.onResumed?.()
    })
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
    if (this.#sending || this.#paused) return
    this.#sending = true
    while (this.waiting.length > 0 && !this.#paused) {
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
    const before = this.waiting
    this.waiting = withoutDependents(before, rejected.key)
    const dropped = before.filter((p) => !this.waiting.includes(p))
    this.owner.onRejected(rejected, dropped, thrown)
    rejected.onDone?.(null)
  }

  #abandon(): void {
    const dropped = this.waiting
    this.waiting = []
    this.owner.onAbandoned?.(dropped)
    for (const one of dropped) one.onDone?.(null)
  }

  #pause(why: ApiError): void {
    this.#paused = true
    this.owner.onReachable(!why.unreachable)
    clearTimeout(this.#retry)
    const delay = retryDelays[Math.min(this.#attempt++, retryDelays.length - 1)]!
    this.#retry = setTimeout(this.resume, delay)
  }

  #onBeforeUnload = (event: BeforeUnloadEvent): void => {
    if (this.waiting.length > 0) event.preventDefault()
  }

  /** Sends held operations before the page closes. */
  #onPageHide = (): void => {
    for (const one of this.#held) this.owner.send(one).catch(() => undefined)
    this.#held = []
  }
}

function pendingOf(operations: readonly Operation[]): Pending[] {
  const at = new Date().toISOString()
  return operations.map((operation) => ({ key: randomId(), operation, at }))
}

/** Returns the operations without a rejected one and those that refer to the record it would have created. */
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
