import { expect, test } from 'vitest'
import { readDate } from './natural-date'

// A Wednesday, 23:30 in UTC: in Tokyo it is Thursday already.
const now = new Date('2026-03-04T23:30:00Z')

test.each([
  ['today', '2026-03-04', undefined],
  ['tomorrow 9am', '2026-03-05', '09:00'],
  ['Fri 14:30', '2026-03-06', '14:30'],
  ['wed', '2026-03-11', undefined],
  ['next week', '2026-03-09', undefined],
  ['in 3 days', '2026-03-07', undefined],
  ['2 weeks', '2026-03-18', undefined],
  ['in a month', '2026-04-04', undefined],
  ['24 dec', '2026-12-24', undefined],
  ['dec 24 2027 at 12am', '2027-12-24', '00:00'],
  ['1st of nothing', null, undefined],
  ['3 jan', '2027-01-03', undefined],
  ['24.12.', '2026-12-24', undefined],
  ['2026-02-29', null, undefined],
  ['noon', '2026-03-04', '12:00'],
  ['soon', null, undefined],
])('%s', (text, date, time) => {
  expect(readDate(text, now, 'UTC')).toEqual(date === null ? null : time ? { date, time } : { date })
})

test('today is a day of the zone', () => {
  expect(readDate('today', now, 'Asia/Tokyo')).toEqual({ date: '2026-03-05' })
})
