import { expect, test } from 'vitest'
import { readDate, readSpan, readTime } from './naturalDate'

// Wednesday in UTC, but already Thursday in Tokyo.
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
])('readDate parses %s', (text, date, time) => {
  expect(readDate(text, now, 'UTC')).toEqual(date === null ? null : time ? { date, time } : { date })
})

test.each([
  ['15:00', '15:00'],
  ['3pm', '15:00'],
  [' 9.30 ', '09:30'],
  ['9', '09:00'],
  ['noon', '12:00'],
  ['25', null],
  ['9:75', null],
  ['3pm sharp', null],
  ['', null],
])('readTime parses "%s"', (text, time) => {
  expect(readTime(text)).toBe(time)
})

test('readDate evaluates "today" in the time zone', () => {
  expect(readDate('today', now, 'Asia/Tokyo')).toEqual({ date: '2026-03-05' })
})

test.each([
  ['fri', { due: { date: '2026-03-06' } }],
  ['fri 9am Berlin', { due: { date: '2026-03-06', time: '09:00' }, timeZone: 'Europe/Berlin' }],
  ['tomorrow 14:30 in New York', { due: { date: '2026-03-05', time: '14:30' }, timeZone: 'America/New_York' }],
  ['tomorrow 14:30 New York time', { due: { date: '2026-03-05', time: '14:30' }, timeZone: 'America/New_York' }],
  ['today 9am JST', { due: { date: '2026-03-05', time: '09:00' }, timeZone: 'Asia/Tokyo' }],
  ['noon europe/london', { due: { date: '2026-03-04', time: '12:00' }, timeZone: 'Europe/London' }],
  ['fri to next week', { start: { date: '2026-03-06' }, due: { date: '2026-03-09' } }],
  [
    'from 10 mar 9am to 12 mar 17:00 UTC',
    {
      start: { date: '2026-03-10', time: '09:00' },
      due: { date: '2026-03-12', time: '17:00' },
      timeZone: 'UTC',
    },
  ],
  ['start fri, due 24 dec', { start: { date: '2026-03-06' }, due: { date: '2026-12-24' } }],
  ['start tomorrow', { start: { date: '2026-03-05' } }],
  ['2026-03-10 - 2026-03-12', { start: { date: '2026-03-10' }, due: { date: '2026-03-12' } }],
  ['Berlin', null],
  ['fri to nowhere', null],
])('readSpan parses %s', (text, span) => {
  expect(readSpan(text, now, 'UTC')).toEqual(span)
})
