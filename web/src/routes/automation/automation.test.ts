import { describe, expect, it } from 'vitest'
import type { RuleAction } from '../../api/contract'
import type { BoardDetail } from '../../api/types'
import { actionText, inputOf, kindOf, kinds, newAction, thenText } from './actions'
import { ifText, optionsOf, termsOf, termText } from './conditions'
import { exampleRules } from './exampleRules'
import type { BoardObjects } from './boardObjects'
import { triggerGroups, whenText } from './triggers'

const objects: BoardObjects = {
  board: {} as BoardDetail,
  lists: [
    { id: 'lst_1', name: 'To do' },
    { id: 'lst_2', name: 'Doing' },
    { id: 'lst_3', name: 'Done' },
  ],
  labels: [
    { id: 'lbl_1', name: 'Bug', phrase: 'the label Bug' },
    { id: 'lbl_2', name: 'green (no name)', phrase: 'the green label' },
  ],
  people: [{ id: 'usr_1', name: 'Ada' }],
}

describe('whenText', () => {
  it('has a unique label for each trigger', () => {
    const all = triggerGroups.flatMap((group) => group.triggers)
    expect(new Set(all.map((trigger) => trigger.label)).size).toBe(all.length)
    for (const { event } of all) expect(whenText({ event }, objects)).not.toContain('_')
  })
  it('names the list, label or time of a trigger', () => {
    expect(whenText({ event: 'card_entered', listId: 'lst_3' }, objects)).toBe('a card enters Done')
    expect(whenText({ event: 'label_added', labelId: 'lbl_9' }, objects)).toBe('a deleted label is added')
    expect(whenText({ event: 'due_soon', hours: 48 }, objects)).toBe('a card is due in 2 days')
  })
})

it('a label without a name is described by its color', () => {
  const remove: RuleAction = { operation: 'set_card_labels', input: { remove: ['lbl_2', 'lbl_1'] } }
  expect(whenText({ event: 'label_added', labelId: 'lbl_2' }, objects)).toBe('the green label is added')
  expect(whenText({ event: 'label_removed' }, objects)).toBe('a label is removed')
  expect(termText('-label:lbl_2', objects)).toBe('it does not have the green label')
  expect(actionText(remove, objects)).toBe('remove the green label, the label Bug')
})

describe('termsOf and ifText', () => {
  it('split a query into terms and keep quotes', () => {
    const text = '-is:done title:"press release" label:lbl_1 "two words" "open'
    expect(termsOf(text)).toEqual(['-is:done', 'title:"press release"', 'label:lbl_1', '"two words"', '"open'])
    expect(termsOf(text).join(' ')).toBe(text)
  })
  it('describe the terms that can be selected', () => {
    expect(ifText('-is:done -label:lbl_1 member:usr_1', objects)).toBe(
      'it is not done and it does not have the label Bug and Ada is assigned',
    )
    expect(termText('title:press', objects)).toBeNull()
    for (const { term, label } of optionsOf(objects).flatMap((group) => group.options)) {
      expect(termText(term, objects)).toBe(label)
    }
  })
})

describe('actions', () => {
  it('can be created and described for each kind', () => {
    for (const { kind } of kinds) {
      const created = newAction(kind, objects)
      expect(kindOf(created)).toBe(kind)
      expect(actionText(created, objects)).not.toMatch(/deleted|former/)
    }
  })
  it('keep input fields that are not shown', () => {
    const action: RuleAction = { operation: 'set_card_due', input: { dueDate: '{today+3}', timeZone: 'Europe/Berlin' } }
    expect(kindOf(action)).toBe('due')
    expect(inputOf(action).timeZone).toBe('Europe/Berlin')
    expect(actionText(action, objects)).toBe('set it due 3 days later')
  })
  it('are joined into a sentence by thenText', () => {
    expect(
      thenText([newAction('done', objects), newAction('assign', objects), newAction('archive', objects)], objects),
    ).toBe('mark it done, assign the person who triggered it and archive it')
  })
})

it('exampleRules uses the lists of the board', () => {
  const [done, mine] = exampleRules(objects)
  expect(done?.draft.when.listId).toBe('lst_3')
  expect(mine?.draft.when.listId).toBe('lst_2')
})
