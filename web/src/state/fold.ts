// view = fold(server, pending): what a person sees is what the server last said
// with everything on top that was done here and is not answered yet.
import { Draft, type BoardData } from './board-data'
import { apply, mentions, renamed, type Context, type Operation } from './operations'

/** An operation on its way, with the key under which it is sent every time. */
export type Pending = {
  key: string
  operation: Operation
  at: string
  /** Hears the answer, or null when it failed. */
  told?: (answer: unknown) => void
}

export function fold(server: BoardData, pending: readonly Pending[], context: Omit<Context, 'now'>): BoardData {
  if (pending.length === 0) return server
  const draft = new Draft(server)
  for (const { operation, at } of pending) apply(draft, operation, { ...context, now: at })
  return draft.data
}

/** The pending operations without a failed one, and without those that speak of what it would have made. */
export function dropped(pending: readonly Pending[], key: string): Pending[] {
  const failed = pending.find((p) => p.key === key)
  let rest = pending.filter((p) => p.key !== key)
  const made = failed && 'id' in failed.operation.input ? (failed.operation.input.id as string) : null
  if (made === null) return rest
  const lost = rest.filter((p) => mentions(p.operation.input, made))
  for (const p of lost) rest = dropped(rest, p.key)
  return rest
}

/** The pending operations with the server's id in place of the one made here. */
export function named(pending: readonly Pending[], from: string, to: string): Pending[] {
  return pending.map((p) =>
    mentions(p.operation.input, from) ? { ...p, operation: renamed(p.operation, from, to) } : p,
  )
}
