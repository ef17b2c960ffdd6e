import { describe, expect, test } from 'vitest'
import { weekOf } from '../../lib/days'
import { datedCard, inOrder, toCalendarCard, type DatedCard } from './calendarCard'
import { layoutWeek } from './layout'
import { readParams, writeParams } from './params'

const week = weekOf('2026-03-04') // 2 to 8 March
const bar = (id: string, first: string, last = first) => ({
  id,
  first: first.length < 3 ? `2026-03-0${first}` : first,
  last: last.length < 3 ? `2026-03-0${last}` : last,
})
const lanes = (layout: ReturnType<typeof layoutWeek<ReturnType<typeof bar>>>) =>
  Object.fromEntries(layout.placed.map((p) => [p.bar.id, [p.lane, p.from, p.length]]))

describe('layoutWeek', () => {
  test('gives each bar a lane that is free on all its days', () => {
    const layout = layoutWeek(week, [bar('long', '2', '5'), bar('late', '5', '7'), bar('after', '6'), bar('one', '3')])
    expect(lanes(layout)).toEqual({ long: [0, 0, 4], late: [1, 3, 3], after: [0, 4, 1], one: [1, 1, 1] })
    expect(layout.more).toEqual([0, 0, 0, 0, 0, 0, 0])
    expect(layout.lanes).toBe(2)
  })

  test('clips bars that begin before the week or end after it', () => {
    const layout = layoutWeek(week, [bar('all', '2026-02-20', '2026-03-20'), bar('past', '2026-02-20', '2026-03-01')])
    expect(layout.placed).toEqual([
      { bar: bar('all', '2026-02-20', '2026-03-20'), from: 0, length: 7, lane: 0, before: true, after: true },
    ])
  })

  test('reserves a lane on full days and counts the hidden cards', () => {
    const full = ['a', 'b', 'c', 'd'].map((id) => bar(id, '4'))
    const layout = layoutWeek(week, [bar('long', '2', '6'), ...full], 3)
    expect(lanes(layout)).toEqual({ long: [0, 0, 5], a: [1, 2, 1] })
    expect(layout.more).toEqual([0, 0, 3, 0, 0, 0, 0])
  })

  test('reserves no lane if all cards fit', () => {
    const layout = layoutWeek(week, [bar('a', '4'), bar('b', '4'), bar('c', '4')], 3)
    expect(layout.placed).toHaveLength(3)
    expect(layout.more[2]).toBe(0)
  })

  test('hides a bar on all its days and counts it on each day', () => {
    const layout = layoutWeek(week, [bar('one', '2', '4'), bar('two', '3', '5'), bar('three', '4', '7')], 2)
    expect(lanes(layout)).toEqual({ one: [0, 0, 3] })
    expect(layout.more).toEqual([0, 1, 2, 2, 1, 1, 0])
  })

  test('never overlaps bars and shows or counts each one', () => {
    let seed = 7
    const next = (n: number) => (seed = (seed * 48271) % 2147483647) % n
    for (let round = 0; round < 200; round++) {
      const bars = Array.from({ length: next(14) }, (_, i) => {
        const from = 2 + next(7)
        return bar(String(i), String(from), String(Math.min(8, from + next(4))))
      })
      const max = 1 + next(5)
      const layout = layoutWeek(week, bars, max)
      for (let day = 0; day < 7; day++) {
        const placed = layout.placed.filter((p) => p.from <= day && day < p.from + p.length)
        const barsOnDay = bars.filter((b) => b.first <= week[day]! && week[day]! <= b.last)
        expect(new Set(placed.map((p) => p.lane)).size).toBe(placed.length)
        expect(placed.length + layout.more[day]!).toBe(barsOnDay.length)
        // The "+n more" button needs its own lane.
        const maxLanes = layout.more[day]! > 0 ? max - 1 : max
        for (const p of placed) expect(p.lane).toBeLessThan(maxLanes)
      }
    }
  })
})

const card = (fields: Partial<DatedCard>) =>
  toCalendarCard({
    id: 'crd_1',
    boardId: 'brd_1',
    listId: 'lst_1',
    number: 1,
    title: 'Card',
    done: false,
    dueDate: null,
    dueAt: null,
    startDate: null,
    startAt: null,
    timeZone: null,
    ...fields,
  })

describe('datedCard', () => {
  const now = new Date('2026-03-04T12:00:00Z')
  test('returns the day and time in the viewer’s time zone', () => {
    const due = { dueDate: '2026-03-29', dueAt: '2026-03-29T07:30:00.000Z', timeZone: 'Europe/Berlin' }
    expect(datedCard(card(due), now, 'Europe/Berlin')).toMatchObject({ first: '2026-03-29', time: '09:30' })
    expect(datedCard(card(due), now, 'America/New_York')).toMatchObject({ first: '2026-03-29', time: '03:30' })
    expect(datedCard(card(due), now, 'Pacific/Honolulu')).toMatchObject({ first: '2026-03-28', time: '21:30' })
  })
  test('returns null without dates, and overdue only for a due date', () => {
    expect(datedCard(card({}), now, 'UTC')).toBeNull()
    expect(datedCard(card({ startDate: '2026-03-01' }), now, 'UTC')).toMatchObject({ urgency: null, time: '' })
    expect(datedCard(card({ dueDate: '2026-03-01' }), now, 'UTC')).toMatchObject({ urgency: 'overdue' })
  })
  test('inOrder puts spans first, then all-day cards, then cards with a time', () => {
    const all = [
      card({ id: 'late', title: 'B', dueDate: '2026-03-04', dueAt: '2026-03-04T15:00:00Z', timeZone: 'UTC' }),
      card({ id: 'early', title: 'C', dueDate: '2026-03-04', dueAt: '2026-03-04T09:00:00Z', timeZone: 'UTC' }),
      card({ id: 'day', title: 'D', dueDate: '2026-03-04' }),
      card({ id: 'short', startDate: '2026-03-04', dueDate: '2026-03-05' }),
      card({ id: 'long', startDate: '2026-03-04', dueDate: '2026-03-09' }),
    ].flatMap((c) => datedCard(c, now, 'UTC') ?? [])
    expect(all.sort(inOrder).map((c) => c.id)).toEqual(['long', 'short', 'day', 'early', 'late'])
  })
})

test('readParams reads what writeParams writes', () => {
  const params = { view: 'week', date: '2026-03-04', boards: ['brd_1', 'brd_2'], mine: true, open: true } as const
  expect(writeParams(params)).toBe('?view=week&date=2026-03-04&board=brd_1,brd_2&assignee=me&done=false')
  expect(readParams(new URLSearchParams(writeParams(params)))).toEqual(params)
  expect(readParams(new URLSearchParams('?view=year&date=2026-02-30'))).toEqual(readParams(new URLSearchParams()))
  expect(writeParams(readParams(new URLSearchParams()))).toBe('')
})
