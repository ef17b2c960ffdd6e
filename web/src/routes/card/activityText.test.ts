import { beforeAll, expect, test } from 'vitest'
import type { Session } from '../../api/contract'
import type { Activity } from '../../api/types'
import type { BoardData } from '../../state/boardData'
import { addDays } from '../../state/due'
import { startSession } from '../../state/session.svelte'
import { activityText } from './activityText'

const user = { id: 'usr_1', name: 'Ada', timeZone: 'Europe/Berlin', theme: 'system' }
beforeAll(() => startSession({ user, workspaces: [], zoneOffsets: [], unread: 0 } as unknown as Session))

const view = {
  members: new Map([
    ['usr_1', { id: 'usr_1', name: 'Ada' }],
    ['usr_2', { id: 'usr_2', name: 'Grace' }],
  ]),
  labels: new Map([
    ['lbl_1', { id: 'lbl_1', name: 'Bug', color: 'red' }],
    ['lbl_2', { id: 'lbl_2', name: 'Idea', color: 'lime' }],
    ['lbl_3', { id: 'lbl_3', name: '', color: 'green' }],
  ]),
  lists: new Map(),
} as unknown as BoardData

const textOf = (type: string, changes: Record<string, { from?: unknown; to?: unknown }>) =>
  activityText({ type, changes, actor: { type: 'user', id: 'usr_1' } } as unknown as Activity, view, new Map()).text

test('the text names the program that made the change', () => {
  const actor = { type: 'person', id: 'usr_1', client: 'Claude' }
  const line = activityText({ type: 'card.archived', changes: {}, actor } as unknown as Activity, view, new Map())
  expect([line.actor.name, line.text]).toEqual(['Ada', 'via Claude archived this card'])
})

test('assignee changes name the people, and the actor as "themselves"', () => {
  const people = (from: string[], to: string[]) => textOf('card.assignees_changed', { assignees: { from, to } })
  expect(people([], ['usr_1'])).toBe('assigned themselves')
  expect(people(['usr_1'], ['usr_2'])).toBe('assigned Grace and unassigned themselves')
  expect(people(['usr_9'], [])).toBe('unassigned a former member')
})

test('label changes name the labels and their colors', () => {
  const labels = (from: string[], to: string[]) => textOf('card.labels_changed', { labels: { from, to } })
  expect(labels([], ['lbl_1'])).toBe('added the label Bug (red)')
  expect(labels([], ['lbl_1', 'lbl_2', 'lbl_3'])).toBe('added the labels Bug (red) and Idea (lime) and the green label')
  expect(labels(['lbl_3', 'lbl_9'], ['lbl_2'])).toBe(
    'added the label Idea (lime) and removed the green label and a deleted label',
  )
})

test('date changes include the time of day', () => {
  const due = (changes: Record<string, { from?: unknown; to?: unknown }>) => textOf('card.due_date_changed', changes)
  const year = new Date().getUTCFullYear() + 2
  const at = `${year}-11-27T14:00:00.000Z`
  expect(due({ dueDate: { to: `${year}-11-27` }, dueAt: { to: at } })).toBe(`set the due date to 27 Nov ${year} 15:00`)
  expect(due({ dueAt: { to: at } })).toBe(`set the due date to 27 Nov ${year} 15:00`)
  expect(due({ dueDate: { to: `${year}-11-27` }, dueAt: { from: at, to: null } })).toBe(
    `set the due date to 27 Nov ${year}`,
  )
  expect(due({ dueAt: { from: at, to: null } })).toBe('removed the time from the due date')
  expect(due({ dueDate: { from: '2026-01-01', to: null }, startDate: { to: addDays(`${year}-11-27`, -7) } })).toBe(
    `removed the due date and set the start date to 20 Nov ${year}`,
  )
  expect(due({ timeZone: { to: 'Europe/Paris' } })).toBe('changed the time zone of the dates')
})
