// The definition of an operation, and helpers.
import type { UserRef } from '../../api/types'
import type { Draft } from '../boardData'

/** The board, person and time of an operation, for records created on the page. */
export type Context = { boardId: string; me: UserRef; now: string }

/** apply changes the view optimistically, send calls the server, reconcile applies its result to the server state. */
export type Definition<I, A> = {
  apply: (draft: Draft, input: I, context: Context) => void
  send: (input: I, key: string, context: Context) => Promise<A>
  reconcile?: (draft: Draft, input: I, result: A) => void
}

export type Definitions<I, A extends { [K in keyof I]: unknown }> = { [K in keyof I]: Definition<I[K], A[K]> }

export const idempotencyHeader = (key: string) => ({ 'Idempotency-Key': key })

export const withChanges = <T extends { id: string }>(all: T[], id: string, fields: Partial<NoInfer<T>>): T[] =>
  all.map((one) => (one.id === id ? { ...one, ...fields } : one))

export const without = <T extends { id: string }>(all: T[], id: string): T[] => all.filter((one) => one.id !== id)

export function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as Partial<T>
}
