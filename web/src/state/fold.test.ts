import { describe, expect, test } from 'vitest'
import type { Activity, Card, List, Position } from '../api/types'
import { Draft, emptyCard, fromOpened, type BoardData, type Details } from './boardData'
import { applyChange, noStaleData } from './changes'
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
  ...emptyCard(id, 'brd_1', listId, 'usr_1', at),
  title: id,
  number: 1,
  ...more,
})

function server(): BoardData {
  const lists = [list('l1', 'To do'), list('l2', 'Done')]
  const cards = [card('a', 'l1'), card('b', 'l1'), card('c', 'l1'), card('d', 'l2')]
  const labels = [{ id: 'x', boardId: 'brd_1', name: 'Bug', color: 'red' as const, createdAt: at, updatedAt: at }]
  const members = [{ id: 'usr_1', name: 'Ada', role: 'admin' as const, given: null, avatar: null }]
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

let lastKey = 0
function pendingOperation<K extends Kind>(kind: K, input: Inputs[K]): Pending {
  return { key: `key${++lastKey}`, operation: { kind, input } as Operation, at }
}

const order = (data: BoardData, listId: string) => [...(data.order.get(listId) ?? [])]

describe('fold', () => {
  test('returns the server state itself if there are no pending operations', () => {
    const state = server()
    expect(fold(state, [], context)).toBe(state)
  })

  test('shares unchanged parts with the server state and does not modify it', () => {
    const state = server()
    const view = fold(state, [pendingOperation('move_card', { cardId: 'a', listId: 'l2', position: 'top' })], context)
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
        pendingOperation('update_card', { cardId: 'a', title: 'First' }),
        pendingOperation('move_card', { cardId: 'a', listId: 'l1', position: { after: 'c' } }),
        pendingOperation('update_card', { cardId: 'a', title: 'Second', done: true }),
      ],
      context,
    )
    expect(order(view, 'l1')).toEqual(['b', 'c', 'a'])
    expect(view.cards.get('a')).toMatchObject({ title: 'Second', done: true })
  })

  test.each<[Position, string[]]>([
    ['top', ['k3', 'k1', 'k2']],
    [{ before: 'k2' }, ['k1', 'k3', 'k2']],
    [{ after: 'k1' }, ['k1', 'k3', 'k2']],
    [{ before: 'unknown' }, ['k1', 'k2', 'k3']],
    [{ after: 'unknown' }, ['k1', 'k2', 'k3']],
  ])('moves a checklist item to %j', (position, want) => {
    const draft = new Draft(server())
    const items = ['k1', 'k2', 'k3'].map((id) => ({ id, title: id, done: false }))
    const checklists = [{ id: 'chk_1', title: 'Steps', items }] as Details['checklists']
    draft.set('details', 'a', { description: '', checklists, comments: [], attachments: [] })
    const move = pendingOperation('update_checklist_item', {
      cardId: 'a',
      checklistId: 'chk_1',
      itemId: 'k3',
      position,
    })
    const view = fold(draft.data, [move], context)
    expect(view.details.get('a')?.checklists[0]?.items.map((i) => i.id)).toEqual(want)
  })

  test('dropping a failed operation keeps later ones', () => {
    const failed = pendingOperation('move_card', { cardId: 'a', listId: 'l2', position: 'top' })
    const pending = [failed, pendingOperation('update_card', { cardId: 'b', title: 'Kept' })]
    const view = fold(server(), withoutDependents(pending, failed.key), context)
    expect(order(view, 'l1')).toEqual(['a', 'b', 'c'])
    expect(view.cards.get('b')?.title).toBe('Kept')
  })

  test('dropping a failed creation also drops later operations on the card', () => {
    const creation = pendingOperation('create_card', { id: 'new_1', listId: 'l1', title: 'New', position: 'bottom' })
    const pending = [
      creation,
      pendingOperation('update_card', { cardId: 'new_1', title: 'Newer' }),
      pendingOperation('move_card', { cardId: 'a', listId: 'l1', position: { after: 'new_1' } }),
      pendingOperation('update_card', { cardId: 'b', title: 'Kept' }),
    ]
    expect(withoutDependents(pending, creation.key).map((p) => p.operation.kind)).toEqual(['update_card'])
  })

  test('operations on a new card use its server ID once it is known', () => {
    const creation = pendingOperation('create_card', { id: 'new_1', listId: 'l1', title: 'New', position: 'bottom' })
    const move = pendingOperation('move_card', { cardId: 'new_1', listId: 'l2', position: 'top' })
    const draft = new Draft(server())
    reconcile(draft, creation.operation, card('e', 'l1', { title: 'New' }))
    const view = fold(draft.data, withAssignedId([move], { from: 'new_1', to: 'e' }), context)
    expect(order(view, 'l1')).toEqual(['a', 'b', 'c'])
    expect(order(view, 'l2')).toEqual(['e', 'd'])
  })

  test('archiving removes a card from its list, and restoring returns it to its position', () => {
    const archive = pendingOperation('archive_card', { cardId: 'b' })
    const restore = pendingOperation('restore_card', { cardId: 'b', position: { after: 'a' } })
    expect(order(fold(server(), [archive], context), 'l1')).toEqual(['a', 'c'])
    expect(order(fold(server(), [archive, restore], context), 'l1')).toEqual(['a', 'b', 'c'])
  })

  test('a card is restored to the position in the change, whether the response or the change arrives first', () => {
    const archived = fold(server(), [pendingOperation('archive_card', { cardId: 'b' })], context)
    const restore = pendingOperation('restore_card', { cardId: 'b' })
    expect(order(fold(archived, [restore], context), 'l1')).toEqual(['a', 'c', 'b'])
    const response = (draft: Draft) => reconcile(draft, restore.operation, card('b', 'l1'))
    const change = (draft: Draft) =>
      applyChange(
        draft,
        entry('card.restored', {
          cardId: 'b',
          listId: 'l1',
          changes: { archivedAt: { from: at, to: null }, position: { from: null, to: { after: 'a' } } },
        }),
        noStaleData(),
      )
    for (const steps of [
      [response, change],
      [change, response],
    ]) {
      const draft = new Draft(archived)
      for (const step of steps) step(draft)
      expect(order(fold(draft.data, [], context), 'l1')).toEqual(['a', 'b', 'c'])
      expect(order(fold(draft.data, [restore], context), 'l1')).toEqual(['a', 'b', 'c'])
    }
  })

  test('labels and assignees have their names', () => {
    const view = fold(
      server(),
      [
        pendingOperation('set_card_labels', { cardId: 'a', add: ['x'] }),
        pendingOperation('set_card_assignees', { cardId: 'a', add: ['usr_1'] }),
        pendingOperation('update_label', { labelId: 'x', name: 'Defect' }),
      ],
      context,
    )
    expect(view.cards.get('a')).toMatchObject({
      labels: [{ id: 'x', name: 'Defect', color: 'red' }],
      assignees: [{ id: 'usr_1', name: 'Ada' }],
    })
  })

  test('operations on a large board leave the other cards as they are', () => {
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
    const pending = Array.from({ length: 20 }, (_, i) =>
      pendingOperation('update_card', { cardId: `c${i}`, done: true }),
    )
    const { cards: shown } = fold(large, pending, context)
    // A card that is the same object is not drawn again.
    const changed = [...shown].filter(([id, shownCard]) => shownCard !== large.cards.get(id))
    expect(changed.map(([id]) => id)).toEqual(pending.map((_, i) => `c${i}`))
  })
})

function entry(type: string, more: Partial<Activity>): Activity {
  return {
    id: `act_${type}`,
    type,
    at,
    actor: { type: 'person', id: 'usr_2', client: null },
    boardId: 'brd_1',
    listId: null,
    cardId: null,
    changes: {},
    boardVersion: 2,
    ...more,
  }
}

function applied(type: string, more: Partial<Activity>, state = server()) {
  const draft = new Draft(state)
  const stale = noStaleData()
  applyChange(draft, entry(type, more), stale)
  return { data: draft.data, stale }
}

describe('changes by others', () => {
  test('move a card after its neighbor', () => {
    const { data } = applied('card.moved', {
      cardId: 'a',
      listId: 'l2',
      changes: { listId: { from: 'l1', to: 'l2' }, position: { from: null, to: { after: 'd' } } },
    })
    expect(order(data, 'l1')).toEqual(['b', 'c'])
    expect(order(data, 'l2')).toEqual(['d', 'a'])
  })

  test('have no further effect when applied twice', () => {
    const created = {
      cardId: 'e',
      listId: 'l1',
      changes: {
        title: { from: null, to: 'E' },
        listId: { from: null, to: 'l1' },
        position: { from: null, to: 'top' },
      },
    }
    const once = applied('card.created', created)
    const twice = applied('card.created', created, once.data)
    expect(order(once.data, 'l1')).toEqual(['e', 'a', 'b', 'c'])
    expect(order(twice.data, 'l1')).toEqual(['e', 'a', 'b', 'c'])
  })

  test('do not override pending operations', () => {
    const { data } = applied('card.updated', {
      cardId: 'a',
      listId: 'l1',
      changes: { title: { from: 'a', to: 'Theirs' } },
    })
    expect(data.cards.get('a')?.title).toBe('Theirs')
    const view = fold(data, [pendingOperation('update_card', { cardId: 'a', title: 'Mine' })], context)
    expect(view.cards.get('a')?.title).toBe('Mine')
  })

  test('remove a card that moved to another board', () => {
    const { data } = applied('card.moved', { cardId: 'a', listId: 'l1', changes: { listId: { from: 'l1', to: null } } })
    expect(data.cards.has('a')).toBe(false)
    expect(order(data, 'l1')).toEqual(['b', 'c'])
  })

  test('archive and restore the cards of a list with the list', () => {
    const cardArchived = applied('card.archived', {
      cardId: 'b',
      listId: 'l1',
      changes: { archivedAt: { from: null, to: '2026-11-20T10:00:00.000Z' } },
    })
    const archived = applied('list.archived', { listId: 'l1' }, cardArchived.data).data
    const archivedBy = (data: typeof archived) => ['a', 'b', 'c'].map((id) => data.cards.get(id)?.archivedBy)
    expect(archivedBy(archived)).toEqual(['list', 'card', 'list'])
    expect(archived.cards.get('a')?.archivedAt).toBeTruthy()
    const restored = applied('list.restored', { listId: 'l1' }, archived).data
    expect(archivedBy(restored)).toEqual([null, 'card', null])
    expect(restored.cards.get('a')?.archivedAt).toBeNull()
  })

  test('remove deleted cards and lists', () => {
    const { data } = applied('card.deleted', { cardId: 'a', listId: 'l1' })
    expect(data.cards.has('a')).toBe(false)
    const after = applied('list.deleted', { listId: 'l1' }, data).data
    expect(after.lists.has('l1')).toBe(false)
    expect(after.cards.has('b')).toBe(false)
  })

  test('mark data that an entry does not include as stale', () => {
    expect(applied('comment.added', { cardId: 'a', listId: 'l1' }).stale.cards).toEqual(new Set(['a']))
    expect(applied('board_member.added', {}).stale.members).toBe(true)
    expect(applied('board.updated', {}).stale.board).toBe(true)
    expect(applied('card.restored', { cardId: 'z', listId: 'l1' }).stale.board).toBe(true)
  })
})
