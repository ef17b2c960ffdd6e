import { describe, expect, test } from 'vitest'
import type { Activity, Card, List } from '../api/types'
import { Draft, fromOpened, type BoardData } from './boardData'
import { applyChange, nothingStale } from './changes'
import { fold } from './fold'
import { withAssignedId, withoutDependents, type Pending } from './operationQueue.svelte'
import { reconcile, type Inputs, type Kind, type Operation } from './operations'

const at = '2026-03-02T09:00:00.000Z'
const context = { boardId: 'brd_1', me: { id: 'usr_1', name: 'Ada' } }

const list = (id: string, name: string): List => ({
  id,
  boardId: 'brd_1',
  name,
  openCards: 0,
  wipLimit: null,
  wipMode: 'soft',
  archivedAt: null,
  createdAt: at,
  updatedAt: at,
})

const card = (id: string, listId: string, more: Partial<Card> = {}): Card => ({
  id,
  boardId: 'brd_1',
  listId,
  title: id,
  number: 1,
  done: false,
  doneAt: null,
  archivedAt: null,
  archivedBy: null,
  labels: [],
  assignees: [],
  dueDate: null,
  dueAt: null,
  startDate: null,
  startAt: null,
  timeZone: null,
  checklistItems: { done: 0, total: 0 },
  comments: 0,
  createdBy: 'usr_1',
  createdAt: at,
  updatedAt: at,
  url: '',
  ...more,
})

function server(): BoardData {
  const lists = [list('l1', 'To do'), list('l2', 'Done')]
  const cards = [card('a', 'l1'), card('b', 'l1'), card('c', 'l1'), card('d', 'l2')]
  const labels = [{ id: 'x', boardId: 'brd_1', name: 'Bug', color: 'red' as const, createdAt: at, updatedAt: at }]
  const members = [{ id: 'usr_1', name: 'Ada', role: 'admin' as const, given: null }]
  return fromOpened({
    id: 'brd_1',
    lists,
    cards,
    labels,
    members,
    starred: false,
    collapsedLists: [],
  } as unknown as Parameters<typeof fromOpened>[0])
}

let keys = 0
function pend<K extends Kind>(kind: K, input: Inputs[K]): Pending {
  return { key: `key${++keys}`, operation: { kind, input } as Operation, at }
}

const order = (data: BoardData, listId: string) => [...(data.order.get(listId) ?? [])]

describe('fold', () => {
  test('without pending operations returns the server state itself', () => {
    const state = server()
    expect(fold(state, [], context)).toBe(state)
  })

  test('does not modify the server state, and shares unchanged parts', () => {
    const state = server()
    const view = fold(state, [pend('move_card', { cardId: 'a', listId: 'l2', position: 'top' })], context)
    expect(order(state, 'l1')).toEqual(['a', 'b', 'c'])
    expect(order(view, 'l1')).toEqual(['b', 'c'])
    expect(order(view, 'l2')).toEqual(['a', 'd'])
    expect(view.cards.get('b')).toBe(state.cards.get('b'))
    expect(view.lists).toBe(state.lists)
  })

  test('applies operations in order', () => {
    const view = fold(
      server(),
      [
        pend('update_card', { cardId: 'a', title: 'First' }),
        pend('move_card', { cardId: 'a', listId: 'l1', position: { after: 'c' } }),
        pend('update_card', { cardId: 'a', title: 'Second', done: true }),
      ],
      context,
    )
    expect(order(view, 'l1')).toEqual(['b', 'c', 'a'])
    expect(view.cards.get('a')).toMatchObject({ title: 'Second', done: true })
  })

  test('a failed operation is dropped and later ones stay', () => {
    const failing = pend('move_card', { cardId: 'a', listId: 'l2', position: 'top' })
    const pending = [failing, pend('update_card', { cardId: 'b', title: 'Kept' })]
    const view = fold(server(), withoutDependents(pending, failing.key), context)
    expect(order(view, 'l1')).toEqual(['a', 'b', 'c'])
    expect(view.cards.get('b')?.title).toBe('Kept')
  })

  test('a failed creation also drops later operations on the card', () => {
    const make = pend('create_card', { id: 'new_1', listId: 'l1', title: 'New', position: 'bottom' })
    const pending = [
      make,
      pend('update_card', { cardId: 'new_1', title: 'Newer' }),
      pend('move_card', { cardId: 'a', listId: 'l1', position: { after: 'new_1' } }),
      pend('update_card', { cardId: 'b', title: 'Kept' }),
    ]
    expect(withoutDependents(pending, make.key).map((p) => p.operation.kind)).toEqual(['update_card'])
  })

  test('operations after a creation use the server’s ID once it is known', () => {
    const make = pend('create_card', { id: 'new_1', listId: 'l1', title: 'New', position: 'bottom' })
    const move = pend('move_card', { cardId: 'new_1', listId: 'l2', position: 'top' })
    const draft = new Draft(server())
    reconcile(draft, make.operation, card('e', 'l1', { title: 'New' }))
    const view = fold(draft.data, withAssignedId([move], { from: 'new_1', to: 'e' }), context)
    expect(order(view, 'l1')).toEqual(['a', 'b', 'c'])
    expect(order(view, 'l2')).toEqual(['e', 'd'])
  })

  test('an archived card leaves its list and returns to its position', () => {
    const archive = pend('archive_card', { cardId: 'b' })
    const restore = pend('restore_card', { cardId: 'b', position: { after: 'a' } })
    expect(order(fold(server(), [archive], context), 'l1')).toEqual(['a', 'c'])
    expect(order(fold(server(), [archive, restore], context), 'l1')).toEqual(['a', 'b', 'c'])
  })

  test('labels and people are shown with their names', () => {
    const view = fold(
      server(),
      [
        pend('set_card_labels', { cardId: 'a', add: ['x'] }),
        pend('set_card_assignees', { cardId: 'a', add: ['usr_1'] }),
        pend('update_label', { labelId: 'x', name: 'Defect' }),
      ],
      context,
    )
    expect(view.cards.get('a')).toMatchObject({
      labels: [{ id: 'x', name: 'Defect', color: 'red' }],
      assignees: [{ id: 'usr_1', name: 'Ada' }],
    })
  })

  test('many operations on a large board take far less than a frame', () => {
    const lists = [list('l1', 'To do')]
    const cards = Array.from({ length: 5000 }, (_, i) => card(`c${i}`, 'l1'))
    const large = fromOpened({
      id: 'brd_1',
      lists,
      cards,
      labels: [],
      members: [],
      starred: false,
    } as unknown as Parameters<typeof fromOpened>[0])
    const pending = Array.from({ length: 20 }, (_, i) => pend('update_card', { cardId: `c${i}`, done: true }))
    const start = performance.now()
    fold(large, pending, context)
    expect(performance.now() - start).toBeLessThan(100)
  })
})

function entry(type: string, more: Partial<Activity>): Activity {
  return {
    id: `act_${type}`,
    type,
    at,
    actor: { type: 'person', id: 'usr_2' },
    boardId: 'brd_1',
    listId: null,
    cardId: null,
    changes: {},
    boardVersion: 2,
    ...more,
  }
}

function changed(type: string, more: Partial<Activity>, state = server()) {
  const draft = new Draft(state)
  const stale = nothingStale()
  applyChange(draft, entry(type, more), stale)
  return { data: draft.data, stale }
}

describe('changes by others', () => {
  test('a card moves after its neighbour', () => {
    const { data } = changed('card.moved', {
      cardId: 'a',
      listId: 'l2',
      changes: { listId: { from: 'l1', to: 'l2' }, position: { from: null, to: { after: 'd' } } },
    })
    expect(order(data, 'l1')).toEqual(['b', 'c'])
    expect(order(data, 'l2')).toEqual(['d', 'a'])
  })

  test('applying a change twice has no further effect', () => {
    const made = {
      cardId: 'e',
      listId: 'l1',
      changes: {
        title: { from: null, to: 'E' },
        listId: { from: null, to: 'l1' },
        position: { from: null, to: 'top' },
      },
    }
    const once = changed('card.created', made)
    const twice = changed('card.created', made, once.data)
    expect(order(once.data, 'l1')).toEqual(['e', 'a', 'b', 'c'])
    expect(order(twice.data, 'l1')).toEqual(['e', 'a', 'b', 'c'])
  })

  test('stay below own pending operations', () => {
    const { data } = changed('card.updated', {
      cardId: 'a',
      listId: 'l1',
      changes: { title: { from: 'a', to: 'Theirs' } },
    })
    expect(data.cards.get('a')?.title).toBe('Theirs')
    const view = fold(data, [pend('update_card', { cardId: 'a', title: 'Mine' })], context)
    expect(view.cards.get('a')?.title).toBe('Mine')
  })

  test('a card that moved to another board disappears', () => {
    const { data } = changed('card.moved', { cardId: 'a', listId: 'l1', changes: { listId: { from: 'l1', to: null } } })
    expect(data.cards.has('a')).toBe(false)
    expect(order(data, 'l1')).toEqual(['b', 'c'])
  })

  test('an archived list hides its cards, and restoring it shows them', () => {
    const own = changed('card.archived', {
      cardId: 'b',
      listId: 'l1',
      changes: { archivedAt: { from: null, to: '2026-11-20T10:00:00.000Z' } },
    })
    const away = changed('list.archived', { listId: 'l1' }, own.data).data
    const why = (data: typeof away) => ['a', 'b', 'c'].map((id) => data.cards.get(id)?.archivedBy)
    expect(why(away)).toEqual(['list', 'card', 'list'])
    expect(away.cards.get('a')?.archivedAt).toBeTruthy()
    const back = changed('list.restored', { listId: 'l1' }, away).data
    expect(why(back)).toEqual([null, 'card', null])
    expect(back.cards.get('a')?.archivedAt).toBeNull()
  })

  test('data missing from an entry is loaded', () => {
    expect(changed('comment.added', { cardId: 'a', listId: 'l1' }).stale.cards).toEqual(new Set(['a']))
    expect(changed('board_member.added', {}).stale.members).toBe(true)
    expect(changed('board.updated', {}).stale.board).toBe(true)
    expect(changed('card.restored', { cardId: 'z', listId: 'l1' }).stale.board).toBe(true)
  })
})
