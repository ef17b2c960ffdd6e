// All operations of the board page, represented as data.
import type { DueInput } from '../../api/types'
import type { Draft } from '../boardData'
import { isJob } from '../jobs.svelte'
import { attachments, type AttachmentInputs, type AttachmentResults } from './attachment'
import { boards, type BoardResults, type BoardInputs } from './board'
import { cards, type CardResults, type CardInputs } from './card'
import type { Context, Definition, Definitions } from './definition'
import { details, type DetailResults, type DetailInputs } from './detail'

export type { Context } from './definition'
export { typedTextOf } from './typedText'
export type { CopyOptions, Dropped } from './card'

export type Inputs = CardInputs & DetailInputs & AttachmentInputs & BoardInputs
export type Results = CardResults & DetailResults & AttachmentResults & BoardResults
export type Kind = keyof Inputs
export type Operation = { [K in Kind]: { kind: K; input: Inputs[K] } }[Kind]

/** Creates an operation. The compiler checks that the input belongs to the kind. */
export function operation<K extends Kind>(kind: K, input: Inputs[K]): Operation {
  return { kind, input } as Operation
}

/** Returns the operation that sets or clears the dates of a card. */
export function datesOperation(cardId: string, due: DueInput): Operation {
  if (!due.dueDate && !due.startDate) return operation('clear_card_due', { cardId })
  return operation('set_card_due', { cardId, due })
}

/** Returns the ID of the card that an operation changes. It is undefined if the operation changes something else. */
export function cardIdOf(operation: Operation): string {
  return (operation.input as { cardId: string }).cardId
}

const definitions: Definitions<Inputs, Results> = { ...cards, ...details, ...attachments, ...boards }

const definitionOf = (operation: Operation) => definitions[operation.kind] as Definition<unknown, unknown>

export function apply(draft: Draft, operation: Operation, context: Context): void {
  definitionOf(operation).apply(draft, operation.input, context)
}

export function send(operation: Operation, key: string, context: Context): Promise<unknown> {
  return definitionOf(operation).send(operation.input, key, context)
}

export function reconcile(draft: Draft, operation: Operation, result: unknown): void {
  definitionOf(operation).reconcile?.(draft, operation.input, result)
}

/** Returns the temporary ID and the server ID of the record that an operation created, or null if it created none yet. */
export function assignedId(operation: Operation, result: unknown): { from: string; to: string } | null {
  if (!('id' in operation.input) || isJob(result as object)) return null
  return { from: operation.input.id as string, to: (result as { id: string }).id }
}

/** Returns a value with all occurrences of an ID replaced. */
export function replaceId<T>(value: T, from: string, to: string): T {
  if (typeof value === 'string') return (value === from ? to : value) as T
  if (Array.isArray(value)) return value.map((v: unknown) => replaceId(v, from, to)) as T
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, replaceId(v as unknown, from, to)])) as T
  }
  return value
}

/** Reports whether a value contains an ID. */
export function refersTo(value: unknown, id: string): boolean {
  if (typeof value === 'string') return value === id
  if (Array.isArray(value)) return value.some((v) => refersTo(v, id))
  return !!value && typeof value === 'object' && Object.values(value).some((v) => refersTo(v, id))
}
