// The type of an operation’s definition, and helpers for definitions.
import type { UserRef } from '../../api/types'
import type { Draft } from '../boardData'

/** The board, user and time of an operation. Definitions use them for new records, timestamps and request paths. */
export type Context = { boardId: string; me: UserRef; now: string }

/** The definition of an operation with input I and result R. */
export type Definition<I, R> = {
  /** Applies the operation to the view before the server has performed it. */
  apply: (draft: Draft, input: I, context: Context) => void
  /** Sends the operation to the server with an idempotency key. */
  send: (input: I, key: string, context: Context) => Promise<R>
  /** Applies the server's result to the page's copy of the server state. */
  reconcile?: (draft: Draft, input: I, result: R) => void
}

export type Definitions<I, R extends { [K in keyof I]: unknown }> = { [K in keyof I]: Definition<I[K], R[K]> }

export const idempotencyHeader = (key: string) => ({ 'Idempotency-Key': key })

/** Returns the items with some fields of one item changed. */
export const withChanges = <T extends { id: string }>(all: T[], id: string, fields: Partial<NoInfer<T>>): T[] =>
  all.map((item) => (item.id === id ? { ...item, ...fields } : item))

/** Returns the items except the one with the given ID. */
export const without = <T extends { id: string }>(all: T[], id: string): T[] => all.filter((item) => item.id !== id)

/** Returns the fields that are not undefined. */
export function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as Partial<T>
}
