// What a person can do on a board, each as data with three acts.
import type { Draft } from '../board-data'
import { boards, type BoardAnswers, type BoardInputs } from './board'
import { cards, type CardAnswers, type CardInputs } from './card'
import type { Context, Definition, Definitions } from './definition'
import { details, type DetailAnswers, type DetailInputs } from './detail'

export type { Context } from './definition'
export { typedFor } from './typed'
export type { CopyChoices, Dropped } from './card'

export type Inputs = CardInputs & DetailInputs & BoardInputs
export type Answers = CardAnswers & DetailAnswers & BoardAnswers
export type Kind = keyof Inputs
export type Operation = { [K in Kind]: { kind: K; input: Inputs[K] } }[Kind]

/** An operation with its input, checked against each other. */
export function operation<K extends Kind>(kind: K, input: Inputs[K]): Operation {
  return { kind, input } as Operation
}

const definitions: Definitions<Inputs, Answers> = { ...cards, ...details, ...boards }

const definitionOf = (operation: Operation) => definitions[operation.kind] as Definition<unknown, unknown>

export function apply(draft: Draft, operation: Operation, context: Context): void {
  definitionOf(operation).apply(draft, operation.input, context)
}

export function send(operation: Operation, key: string, context: Context): Promise<unknown> {
  return definitionOf(operation).send(operation.input, key, context)
}

export function settle(draft: Draft, operation: Operation, answer: unknown): void {
  definitionOf(operation).settle?.(draft, operation.input, answer)
}

/** The id that a record got which the operation made, with the one it had until then. */
export function naming(operation: Operation, answer: unknown): { from: string; to: string } | null {
  if (!('id' in operation.input)) return null
  return { from: operation.input.id as string, to: (answer as { id: string }).id }
}

/** The operation with one id in place of another, wherever it stands. */
export function renamed<T>(value: T, from: string, to: string): T {
  if (typeof value === 'string') return (value === from ? to : value) as T
  if (Array.isArray(value)) return value.map((v: unknown) => renamed(v, from, to)) as T
  if (value && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, renamed(v as unknown, from, to)])) as T
  }
  return value
}

/** Whether the operation speaks of an id. */
export function mentions(value: unknown, id: string): boolean {
  if (typeof value === 'string') return value === id
  if (Array.isArray(value)) return value.some((v) => mentions(v, id))
  return !!value && typeof value === 'object' && Object.values(value).some((v) => mentions(v, id))
}
