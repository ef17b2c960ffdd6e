// Example rules that use the lists of a board.
import type { Rule } from '../../api/contract'
import { actor } from './actions'
import type { BoardObjects } from './boardObjects'

export type Draft = Pick<Rule, 'name' | 'when' | 'if' | 'then'>

export type ExampleRule = { key: string; text: string; draft: Draft }

const doneNames = /^(done|finished|complete[d]?|closed|shipped|published|released)\b/i
const inProgressNames = /^(doing|in progress|in work|working|started|under way)\b/i

export function exampleRules(objects: BoardObjects): readonly ExampleRule[] {
  const done = (objects.lists.find((list) => doneNames.test(list.name)) ?? objects.lists.at(-1))?.id
  const doing = (objects.lists.find((list) => inProgressNames.test(list.name)) ?? objects.lists[1] ?? objects.lists[0])
    ?.id
  return [
    {
      key: 'done',
      text: 'Marks a card done when it enters the list for finished cards.',
      draft: {
        name: 'Mark finished cards done',
        when: { event: 'card_entered', listId: done },
        if: '-is:done',
        then: [{ operation: 'update_card', input: { done: true } }],
      },
    },
    {
      key: 'mine',
      text: 'Assigns an unassigned card to the person who starts it.',
      draft: {
        name: 'Assign cards to the person who starts them',
        when: { event: 'card_entered', listId: doing },
        if: 'is:unassigned',
        then: [{ operation: 'set_card_assignees', input: { add: [actor] } }],
      },
    },
    {
      key: 'due',
      text: 'Comments on a card a day before it’s due.',
      draft: {
        name: 'Due tomorrow',
        when: { event: 'due_soon', hours: 24 },
        if: '',
        then: [{ operation: 'add_comment', input: { text: 'This is due within a day.' } }],
      },
    },
  ]
}
