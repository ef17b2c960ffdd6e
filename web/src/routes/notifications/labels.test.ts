import { expect, test } from 'vitest'
import type { Notification } from '../../api/contract'
import { actionText, plainText, subjectText, actorText } from './labels'

const one = {
  id: 'ntf_1',
  kind: 'mention',
  event: 'comment.added',
  actor: { type: 'person', id: 'usr_1', name: 'Ada' },
  board: { id: 'brd_1', name: 'Launch' },
  card: null,
  reminder: null,
} as unknown as Notification

test('describes the actor, the action and the object', () => {
  expect([actorText(one), actionText(one), subjectText(one)]).toEqual(['Ada', 'mentioned you on', 'Launch'])
  const moved = { ...one, kind: 'watched', event: 'card.moved', actor: { type: 'automation', id: null, name: null } }
  expect([actorText(moved as Notification), actionText(moved as Notification)]).toEqual([
    'An automation',
    'moved a card on',
  ])
  const commented = { ...one, kind: 'comment', card: { id: 'crd_1', number: 1, title: 'Press release', dueAt: null } }
  expect([actionText(commented as Notification), subjectText(commented as Notification)]).toEqual([
    'commented on',
    'Press release',
  ])
})

test('describes how close a due date is', () => {
  const card = { id: 'crd_1', number: 1, title: 'Press release', dueAt: null }
  const due = { ...one, kind: 'due', event: 'card.due', card, reminder: 'due' } as unknown as Notification
  expect([actorText(due), actionText(due), subjectText(due)]).toEqual([null, 'Due today', 'Press release'])
  expect(actionText({ ...due, card: { ...due.card!, dueAt: '2026-03-02T09:00:00.000Z' } })).toBe('Due')
  expect(actionText({ ...due, reminder: 'hour' })).toBe('Due in an hour')
})

test('converts Markdown to plain text', () => {
  expect(plainText('# Due\n\n- by **Thursday**, see [the plan](https://example.com/x_y) and `a * b`\n> ~~no~~')).toBe(
    'Due by Thursday, see the plan and a * b no',
  )
  expect(plainText('2 * 3 ** 4, snake_case')).toBe('2 * 3 ** 4, snake_case')
})
