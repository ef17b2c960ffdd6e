// Rules to start from, fitted to a board.
import type { Rule } from '../../api/contract'
import { actor } from './actions'
import type { Things } from './things'

export type Draft = Pick<Rule, 'name' | 'when' | 'if' | 'then'>

export type Ready = { key: string; text: string; draft: Draft }

const finished = /^(done|finished|complete[d]?|closed|shipped|published|released)\b/i
const begun = /^(doing|in progress|in work|working|started|under way)\b/i

export function readyRules(things: Things): readonly Ready[] {
  const done = (things.lists.find((list) => finished.test(list.name)) ?? things.lists.at(-1))?.id
  const doing = (things.lists.find((list) => begun.test(list.name)) ?? things.lists[1] ?? things.lists[0])?.id
  return [
    {
      key: 'done',
      text: 'Whoever moves a card to the end need not tick it off as well.',
      draft: {
        name: 'Done is done',
        when: { event: 'card_entered', listId: done },
        if: '-is:done',
        then: [{ operation: 'update_card', input: { done: true } }],
      },
    },
    {
      key: 'mine',
      text: 'A card that nobody is assigned to goes to the person who starts it.',
      draft: {
        name: 'Whoever starts a card becomes its owner',
        when: { event: 'card_entered', listId: doing },
        if: 'is:unassigned',
        then: [{ operation: 'set_card_assignees', input: { add: [actor] } }],
      },
    },
    {
      key: 'due',
      text: 'A day before, the card reminds those who work on it.',
      draft: {
        name: 'Due tomorrow',
        when: { event: 'due_soon', hours: 24 },
        if: '',
        then: [{ operation: 'add_comment', input: { text: 'This is due within a day.' } }],
      },
    },
  ]
}
