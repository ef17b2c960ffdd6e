import { expect, test } from 'vitest'
import type { Attachment, Card } from '../../api/types'
import { Draft, type BoardData } from '../boardData'
import { apply, operation, reconcile, type Operation } from '.'

const at = '2026-03-02T09:00:00.000Z'
const context = { boardId: 'brd_1', me: { id: 'usr_1', name: 'Ada' }, now: at }

const picture = (id: string, more: Partial<Attachment> = {}) =>
  ({ id, cardId: 'a', boardId: 'brd_1', kind: 'file', name: `${id}.png`, createdAt: at, ...more }) as Attachment

/** Returns a board with a card that has two pictures, of which the first is the cover. */
function board(): BoardData {
  const attachments = [
    picture('att_1', { width: 640, height: 400, cover: true }),
    picture('att_2', { width: 300, height: 900, cover: false }),
  ]
  const card = { id: 'a', attachments: 2, cover: { attachmentId: 'att_1', width: 640, height: 400 } } as Card
  return {
    cards: new Map([['a', card]]),
    details: new Map([['a', { description: '', checklists: [], comments: [], attachments }]]),
  } as unknown as BoardData
}

function after(...operations: Operation[]): { count: number; cover: string | undefined; names: string[] } {
  const draft = new Draft(board())
  for (const op of operations) apply(draft, op, context)
  const card = draft.data.cards.get('a')!
  const names = draft.data.details.get('a')!.attachments!.map((a) => a.name + (a.cover ? ' (cover)' : ''))
  return { count: card.attachments, cover: card.cover?.attachmentId, names }
}

const ids = { cardId: 'a', attachmentId: 'att_1' }

test('removing the cover’s picture removes the cover, and restoring it brings both back', () => {
  const remove = operation('delete_attachment', ids)
  expect(after(remove)).toEqual({ count: 1, cover: undefined, names: ['att_2.png'] })
  const restored = picture('att_1', { width: 640, height: 400, cover: true, createdAt: '2026-03-01T09:00:00.000Z' })
  const undo = [
    operation('restore_attachment', { cardId: 'a', attachment: restored }),
    operation('update_attachment', { ...ids, cover: true }),
  ]
  expect(after(remove, ...undo)).toEqual({ count: 2, cover: 'att_1', names: ['att_1.png (cover)', 'att_2.png'] })
})

test('a card has one cover', () => {
  const change = operation('update_attachment', { cardId: 'a', attachmentId: 'att_2', cover: true })
  expect(after(change)).toEqual({ count: 2, cover: 'att_2', names: ['att_1.png', 'att_2.png (cover)'] })
  const remove = operation('update_attachment', { cardId: 'a', attachmentId: 'att_2', cover: false })
  expect(after(change, remove)).toMatchObject({ cover: undefined, names: ['att_1.png', 'att_2.png'] })
})

test('a picture that is no longer the cover does not remove the cover of another picture', () => {
  const remove = operation('update_attachment', { cardId: 'a', attachmentId: 'att_2', cover: false })
  expect(after(remove)).toMatchObject({ cover: 'att_1', names: ['att_1.png (cover)', 'att_2.png'] })
})

test('a picture is the cover only if the server says so', () => {
  const draft = new Draft(board())
  const choose = operation('update_attachment', { cardId: 'a', attachmentId: 'att_2', cover: true })
  reconcile(draft, choose, picture('att_2', { cover: false }))
  expect(draft.data.cards.get('a')!.cover?.attachmentId).toBe('att_1')
})

test('a renamed attachment gets the name that the server has stored', () => {
  const draft = new Draft(board())
  const rename = operation('update_attachment', { ...ids, name: 'folder/Brief.png' })
  reconcile(draft, rename, picture('att_1', { name: 'Brief.png' }))
  expect(draft.data.details.get('a')!.attachments!.map((a) => a.name)).toEqual(['Brief.png', 'att_2.png'])
})

test('a repeated response adds a link only once', () => {
  const draft = new Draft(board())
  const add = operation('add_link', { id: 'new_1', cardId: 'a', url: 'https://example.com' })
  const result = picture('att_3', { kind: 'link' })
  reconcile(draft, add, result)
  reconcile(draft, add, result)
  expect(draft.data.cards.get('a')!.attachments).toBe(3)
  expect(draft.data.details.get('a')!.attachments).toHaveLength(3)
})

test('the number of attachments changes even if they are not loaded', () => {
  const draft = new Draft({ ...board(), details: new Map() })
  apply(draft, operation('delete_attachment', ids), context)
  expect(draft.data.cards.get('a')).toMatchObject({ attachments: 1, cover: null })
})
