// view = fold(server, pending): the last server state with all pending operations
// applied on top.
import { Draft, type BoardData } from './boardData'
import { apply, refersTo, replaceId, type Context, type Operation } from './operations'

/** A pending operation, with the idempotency key of all its attempts. */
export type Pending = {
  key: string
  operation: Operation
  at: string
  /** Called with the result, or with null if the operation failed. */
  onDone?: (result: unknown) => void
}

export function fold(server: BoardData, pending: readonly Pending[], context: Omit<Context, 'now'>): BoardData {
  if (pending.length === 0) return server
  const draft = new Draft(server)
  for (const { operation, at } of pending) apply(draft, operation, { ...context, now: at })
  return draft.data
}

/** Returns the pending operations without a failed one and those that refer to the record it would have created. */
export function withoutFailed(pending: readonly Pending[], key: string): Pending[] {
  const failed = pending.find((p) => p.key === key)
  let rest = pending.filter((p) => p.key !== key)
  const created = failed && 'id' in failed.operation.input ? (failed.operation.input.id as string) : null
  if (created === null) return rest
  const lost = rest.filter((p) => refersTo(p.operation.input, created))
  for (const p of lost) rest = withoutFailed(rest, p.key)
  return rest
}

/** Returns the pending operations with a temporary ID replaced by the server ID. */
export function replacePendingId(pending: readonly Pending[], from: string, to: string): Pending[] {
  return pending.map((p) =>
    refersTo(p.operation.input, from) ? { ...p, operation: replaceId(p.operation, from, to) } : p,
  )
}
