// A rule's query as conditions that can be picked: the text stays the one of the
// search grammar, and what a person wrote otherwise stays as it was written.
import { labelText, nameIn, type Things } from './things'

type Option = { term: string; label: string }

/** The terms of a query, quotes kept together. */
export const termsOf = (query: string): string[] => query.match(/(?:[^\s"]|"(?:\\.|[^"\\])*"?)+/g) ?? []

const plain: Readonly<Record<string, string>> = {
  '-is:done': 'it is not done',
  'is:done': 'it is done',
  'is:overdue': 'it is overdue',
  'has:due': 'it has a due date',
  'no:due': 'it has no due date',
  'is:unassigned': 'nobody is assigned',
  'is:assigned': 'somebody is assigned',
  'no:label': 'it has no label',
  'has:description': 'it has a description',
  'has:comment': 'it has a comment',
  'is:checked': 'all its checklist items are done',
  'is:unchecked': 'it has an open checklist item',
}

/** "the label is Bug"; null for a term that only the grammar says. */
export function termText(term: string, things: Things): string | null {
  if (plain[term]) return plain[term]
  const found = /^(-?)(list|label|member):((?:lst|lbl|usr)_\w+)$/.exec(term)
  if (!found) return null
  const [, not, key, id] = found
  switch (key) {
    case 'list':
      return `it is ${not ? 'not ' : ''}in ${nameIn(things.lists, id, 'a list that is gone')}`
    case 'label':
      return `it ${not ? 'does not have' : 'has'} ${labelText(things, id)}`
    default:
      return `${nameIn(things.people, id, 'somebody who left')} is ${not ? 'not ' : ''}assigned`
  }
}

/** "it is not done and it has the label Bug". */
export const ifText = (query: string, things: Things): string =>
  termsOf(query)
    .map((term) => termText(term, things) ?? `it matches ${term}`)
    .join(' and ')

export function optionsOf(things: Things): readonly { name: string; options: readonly Option[] }[] {
  const both = (key: string, id: string): Option[] =>
    [`${key}:${id}`, `-${key}:${id}`].map((term) => ({ term, label: termText(term, things)! }))
  return [
    { name: 'State', options: Object.entries(plain).map(([term, label]) => ({ term, label })) },
    { name: 'Labels', options: things.labels.flatMap((one) => both('label', one.id)) },
    { name: 'Lists', options: things.lists.flatMap((one) => both('list', one.id)) },
    { name: 'People', options: things.people.flatMap((one) => both('member', one.id)) },
  ].filter((group) => group.options.length > 0)
}
