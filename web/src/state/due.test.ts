import { expect, test } from 'vitest'
import { dueText, inputOf, instantOf, resolve, urgency, wallClock } from './due'

const now = new Date('2026-03-04T12:00:00Z')
const open = { done: false, startDate: null, startAt: null, timeZone: null }

test('a time in a zone is one instant, also around daylight saving', () => {
  expect(instantOf('2026-03-28', '09:30', 'Europe/Berlin')).toBe('2026-03-28T08:30:00.000Z')
  expect(instantOf('2026-03-29', '09:30', 'Europe/Berlin')).toBe('2026-03-29T07:30:00.000Z')
})

test.each(['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Casablanca', 'America/St_Johns', 'Asia/Kathmandu'])(
  'clocks in %s show what Intl says, all year',
  (timeZone) => {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    const wrong: string[] = []
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 97 * 60_000) {
      const { date, time } = wallClock(new Date(at), timeZone)
      if (`${date} ${time}` !== format.format(at)) wrong.push(`${date} ${time} for ${format.format(at)}`)
    }
    expect(wrong).toEqual([])
  },
)

test('an input survives the way there and back', () => {
  const input = { dueDate: '2026-03-14', dueTime: '09:30', timeZone: 'Europe/Berlin' }
  expect(inputOf(resolve(input))).toMatchObject(input)
})

test.each([
  ['2026-03-03', null, 'overdue'],
  ['2026-03-04', null, 'today'],
  ['2026-03-04', '2026-03-04T11:00:00.000Z', 'overdue'],
  ['2026-03-06', null, 'soon'],
  ['2026-03-20', null, 'later'],
  [null, null, null],
])('%s %s is %s', (dueDate, dueAt, how) => {
  expect(urgency({ ...open, dueDate, dueAt }, now, 'UTC')).toBe(how)
})

test('says the day and the time of the reader', () => {
  expect(dueText({ dueDate: '2026-03-05', dueAt: '2026-03-05T08:30:00.000Z' }, now, 'Europe/Berlin')).toBe(
    'Tomorrow 09:30',
  )
  expect(dueText({ dueDate: '2027-12-24', dueAt: null }, now, 'UTC')).toBe('24 Dec 2027')
})
