// Computes the view: the last server state with all pending operations applied.
import { Draft, type BoardData } from './boardData'
import type { Pending } from './operationQueue.svelte'
import { apply, type Context } from './operations'

export function fold(server: BoardData, pending: readonly Pending[], context: Omit<Context, 'now'>): BoardData {
  if (pending.length === 0) return server
  const draft = new Draft(server)
  for (const { operation, at } of pending) apply(draft, operation, { ...context, now: at })
  return draft.data
}
