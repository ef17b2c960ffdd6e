// The conditions that can be selected for a rule. Each is a term of the rule's search
// query. Other terms of the query stay unchanged.
import { labelText, nameIn, type BoardObjects } from './boardObjects'

type Option = { term: string; label: string }

/** Splits a query into terms. A quoted phrase is a single term. */
export const termsOf = (query: string): string[] => query.match(/(?:[^\s"]|"(?:\\.|[^"\\])*"?)+/g) ?? []

const stateConditions: Readonly<Record<string, string>> = {
  '-is:done': 'it is not done',
  'is:done': 'it is done',
  'is:overdue': 'it is overdue',
  'has:due': 'it has a due date',
  'no:due': 'it has no due date',
  'is:unassigned': 'no one is assigned',
  'is:assigned': 'someone is assigned',
  'no:label': 'it has no label',
  'has:description': 'it has a description',
  'has:comment': 'it has a comment',
  'is:checked': 'all its checklist items are done',
  'is:unchecked': 'it has an open checklist item',
}

/** Describes a condition, or returns null if the term is not one of the options. */
export function termText(term: string, objects: BoardObjects): string | null {
  if (stateConditions[term]) return stateConditions[term]
  const match = /^(-?)(list|label|member):((?:lst|lbl|usr)_\w+)$/.exec(term)
  if (!match) return null
  const [, not, key, id] = match
  switch (key) {
    case 'list':
      return `it is ${not ? 'not ' : ''}in ${nameIn(objects.lists, id, 'a deleted list')}`
    case 'label':
      return `it ${not ? 'does not have' : 'has'} ${labelText(objects, id)}`
    default:
      return `${nameIn(objects.people, id, 'a former member')} is ${not ? 'not ' : ''}assigned`
  }
}

/** Describes a query: "it is not done and it has the label Bug". */
export const ifText = (query: string, objects: BoardObjects): string =>
  termsOf(query)
    .map((term) => termText(term, objects) ?? `it matches ${term}`)
    .join(' and ')

export function optionsOf(objects: BoardObjects): readonly { name: string; options: readonly Option[] }[] {
  const withNegation = (key: string, id: string): Option[] =>
    [`${key}:${id}`, `-${key}:${id}`].map((term) => ({ term, label: termText(term, objects)! }))
  return [
    { name: 'State', options: Object.entries(stateConditions).map(([term, label]) => ({ term, label })) },
    { name: 'Labels', options: objects.labels.flatMap((label) => withNegation('label', label.id)) },
    { name: 'Lists', options: objects.lists.flatMap((list) => withNegation('list', list.id)) },
    { name: 'People', options: objects.people.flatMap((person) => withNegation('member', person.id)) },
  ].filter((group) => group.options.length > 0)
}
