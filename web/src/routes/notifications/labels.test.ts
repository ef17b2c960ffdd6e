import { expect, test } from 'vitest'
import type { Notification } from '../../api/contract'
import { actionText, plainText, subjectText, actorText } from './labels'

const mention = {
  id: 'ntf_1',
  kind: 'mention',
  event: 'comment.added',
  actor: { type: 'person', id: 'usr_1', name: 'Ada' },
  board: { id: 'brd_1', name: 'Launch' },
  card: null,
  reminder: null,
} as unknown as Notification

test('actorText, actionText and subjectText describe a notification', () => {
  expect([actorText(mention), actionText(mention), subjectText(mention)]).toEqual(['Ada', 'mentioned you on', 'Launch'])
  const moved = {
    ...mention,
    kind: 'watched',
    event: 'card.moved',
    actor: { type: 'automation', id: null, name: null },
  }
  expect([actorText(moved as Notification), actionText(moved as Notification)]).toEqual([
    'An automation',
    'moved a card on',
  ])
  const commented = {
    ...mention,
    kind: 'comment',
    card: { id: 'crd_1', number: 1, title: 'Press release', dueAt: null },
  }
  expect([actionText(commented as Notification), subjectText(commented as Notification)]).toEqual([
    'commented on',
    'Press release',
  ])
})

test('actionText describes how soon a card is due', () => {
  const card = { id: 'crd_1', number: 1, title: 'Press release', dueAt: null }
  const due = { ...mention, kind: 'due', event: 'card.due', card, reminder: 'due' } as unknown as Notification
  expect([actorText(due), actionText(due), subjectText(due)]).toEqual([null, 'Due today', 'Press release'])
  expect(actionText({ ...due, card: { ...due.card!, dueAt: '2026-03-02T09:00:00.000Z' } })).toBe('Due')
  expect(actionText({ ...due, reminder: 'hour' })).toBe('Due in an hour')
})

test('plainText removes Markdown', () => {
  expect(plainText('# Due\n\n- by **Thursday**, see [the plan](https://example.com/x_y) and `a * b`\n> ~~no~~')).toBe(
    'Due by Thursday, see the plan and a * b no',
  )
  expect(plainText('2 * 3 ** 4, snake_case')).toBe('2 * 3 ** 4, snake_case')
})
