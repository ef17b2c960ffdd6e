// What an operation consists of, and the words that all of them share.
import type { UserRef } from '../../api/types'
import type { Draft } from '../board-data'

/** Who does it, where and when: what a record made on the page needs. */
export type Context = { boardId: string; me: UserRef; now: string }

/** Apply shows it at once, send asks the server, settle puts its answer into the server's state. */
export type Definition<I, A> = {
  apply: (draft: Draft, input: I, context: Context) => void
  send: (input: I, key: string, context: Context) => Promise<A>
  settle?: (draft: Draft, input: I, answer: A) => void
}

export type Definitions<I, A extends { [K in keyof I]: unknown }> = { [K in keyof I]: Definition<I[K], A[K]> }

export const keyed = (key: string) => ({ 'Idempotency-Key': key })

export const changed = <T extends { id: string }>(all: T[], id: string, fields: Partial<NoInfer<T>>): T[] =>
  all.map((one) => (one.id === id ? { ...one, ...fields } : one))

export const without = <T extends { id: string }>(all: T[], id: string): T[] => all.filter((one) => one.id !== id)

export function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as Partial<T>
}
