// Example rules for a board.
import type { Rule } from '../../api/contract'
import { actor } from './actions'
import type { BoardObjects } from './boardObjects'

export type Draft = Pick<Rule, 'name' | 'when' | 'if' | 'then'>

export type ExampleRule = { key: string; text: string; draft: Draft }

const finished = /^(done|finished|complete[d]?|closed|shipped|published|released)\b/i
const inProgress = /^(doing|in progress|in work|working|started|under way)\b/i

export function exampleRules(objects: BoardObjects): readonly ExampleRule[] {
  const done = (objects.lists.find((list) => finished.test(list.name)) ?? objects.lists.at(-1))?.id
  const doing = (objects.lists.find((list) => inProgress.test(list.name)) ?? objects.lists[1] ?? objects.lists[0])?.id
  return [
    {
      key: 'done',
      text: 'Saves marking a card as done after moving it to the last list.',
      draft: {
        name: 'Mark cards done in the last list',
        when: { event: 'card_entered', listId: done },
        if: '-is:done',
        then: [{ operation: 'update_card', input: { done: true } }],
      },
    },
    {
      key: 'mine',
      text: 'An unassigned card goes to the person who starts it.',
      draft: {
        name: 'Assign cards to the person who starts them',
        when: { event: 'card_entered', listId: doing },
        if: 'is:unassigned',
        then: [{ operation: 'set_card_assignees', input: { add: [actor] } }],
      },
    },
    {
      key: 'due',
      text: 'Comments on the card a day before it is due.',
      draft: {
        name: 'Due tomorrow',
        when: { event: 'due_soon', hours: 24 },
        if: '',
        then: [{ operation: 'add_comment', input: { text: 'This is due within a day.' } }],
      },
    },
  ]
}
