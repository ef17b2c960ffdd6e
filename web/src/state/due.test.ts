import { expect, test } from 'vitest'
import { dueText, inputOf, instantOf, setServerOffsets, resolve, shifted, spanOf, urgency, wallClock } from './due'

const now = new Date('2026-03-04T12:00:00Z')
const open = { done: false, startDate: null, startAt: null, timeZone: null }

test('a local time becomes the right instant before and after a daylight saving change', () => {
  expect(instantOf('2026-03-28', '09:30', 'Europe/Berlin')).toBe('2026-03-28T08:30:00.000Z')
  expect(instantOf('2026-03-29', '09:30', 'Europe/Berlin')).toBe('2026-03-29T07:30:00.000Z')
})

test.each([
  // a gap: the time moves forward by its length
  ['2026-03-29', '02:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ['2026-03-29', '01:30', 'Europe/London', '2026-03-29T01:30:00.000Z'],
  ['2026-10-04', '02:30', 'Australia/Sydney', '2026-10-03T16:30:00.000Z'],
  ['2026-03-08', '02:30', 'America/New_York', '2026-03-08T07:30:00.000Z'],
  ['2011-12-30', '12:00', 'Pacific/Apia', '2011-12-30T22:00:00.000Z'],
  // a time that occurs twice: its first instant
  ['2026-10-25', '02:30', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  ['2026-11-01', '01:30', 'America/New_York', '2026-11-01T05:30:00.000Z'],
])('%s %s in %s is %s, as on the server', (date, time, timeZone, at) => {
  expect(instantOf(date, time, timeZone)).toBe(at)
})

test.each(['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Casablanca', 'America/St_Johns', 'Asia/Kathmandu'])(
  'wallClock agrees with Intl in %s all year',
  (timeZone) => {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    const differences: string[] = []
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 97 * 60_000) {
      const { date, time } = wallClock(new Date(at), timeZone)
      if (`${date} ${time}` !== format.format(at)) differences.push(`got ${date} ${time}, want ${format.format(at)}`)
    }
    expect(differences).toEqual([])
  },
)

test('the server’s offsets are used for the periods that they cover', () => {
  const offset = (from: string, until: string, seconds: number) => ({ from, until, seconds })
  setServerOffsets('Europe/Berlin', [
    offset('2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z', 5 * 3600),
    offset('2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', -1800),
  ])
  const local = (at: string, zone = 'Europe/Berlin') => Object.values(wallClock(new Date(at), zone)).join(' ')
  expect(local('2026-01-31T23:59:00Z')).toBe('2026-02-01 04:59')
  expect(local('2026-02-01T00:00:00Z')).toBe('2026-01-31 23:30')
  expect(local('2026-03-01T00:00:00Z')).toBe('2026-03-01 01:00')
  expect(local('2026-01-15T00:00:00Z', 'Asia/Kathmandu')).toBe('2026-01-15 05:45')
  setServerOffsets('', [])
})

test('resolve and inputOf are inverse', () => {
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
])('%s %s is %s', (dueDate, dueAt, expected) => {
  expect(urgency({ ...open, dueDate, dueAt }, now, 'UTC')).toBe(expected)
})

test.each(['2026-01-03', '2026-09-30', '2026-12-24', '2027-05-01'])('formats %s as Intl does', (dueDate) => {
  const year = dueDate.startsWith('2026') ? undefined : 'numeric'
  const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year, timeZone: 'UTC' })
  expect(dueText({ dueDate, dueAt: null }, now, 'UTC')).toBe(format.format(new Date(dueDate)))
})

test('the due date is formatted in the reader’s time zone', () => {
  expect(dueText({ dueDate: '2026-03-05', dueAt: '2026-03-05T08:30:00.000Z' }, now, 'Europe/Berlin')).toBe(
    'Tomorrow 09:30',
  )
  expect(dueText({ dueDate: '2027-12-24', dueAt: null }, now, 'UTC')).toBe('24 Dec 2027')
})

test('shifted dates keep their time of day across a daylight saving change', () => {
  const before = resolve({
    startDate: '2026-03-26',
    dueDate: '2026-03-28',
    dueTime: '09:30',
    timeZone: 'Europe/Berlin',
  })
  expect(before.dueAt).toBe('2026-03-28T08:30:00.000Z')
  const after = resolve(shifted(before, 3))
  expect(after.dueAt).toBe('2026-03-31T07:30:00.000Z')
  expect(after).toMatchObject({ startDate: '2026-03-29', dueDate: '2026-03-31', timeZone: 'Europe/Berlin' })
  expect(resolve(shifted(after, -3))).toEqual(before)
})

test('the span of a card depends on the viewer’s time zone, not the author’s', () => {
  const late = resolve({ dueDate: '2026-12-04', dueTime: '23:30', timeZone: 'Europe/London' })
  expect(spanOf(late, 'Europe/London')).toEqual({ first: '2026-12-04', last: '2026-12-04' })
  expect(spanOf(late, 'Asia/Tokyo')).toEqual({ first: '2026-12-05', last: '2026-12-05' })
  const span = resolve({ startDate: '2026-12-01', dueDate: '2026-12-04' })
  expect(spanOf(span, 'Asia/Tokyo')).toEqual({ first: '2026-12-01', last: '2026-12-04' })
  expect(spanOf(resolve({ startDate: '2026-12-01' }), 'UTC')).toEqual({ first: '2026-12-01', last: '2026-12-01' })
  expect(spanOf(resolve({}), 'UTC')).toBeNull()
})

test('a span is valid even if the due day precedes the start day in the viewer’s time zone', () => {
  const due = resolve({ startDate: '2026-12-04', dueDate: '2026-12-04', dueTime: '00:30', timeZone: 'Asia/Tokyo' })
  expect(spanOf(due, 'America/Los_Angeles')).toEqual({ first: '2026-12-03', last: '2026-12-04' })
})
