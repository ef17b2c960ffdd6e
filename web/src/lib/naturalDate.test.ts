import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readDate, readSpan, readTime } from './naturalDate'

// Wednesday in UTC, but already Thursday in Tokyo.
const now = new Date('2026-03-04T23:30:00Z')

test.each([
  ['tomorrow 9am', '2026-03-05', '09:00'],
  ['Fri 14:30', '2026-03-06', '14:30'],
  ['dec 24 2027 at 12am', '2027-12-24', '00:00'],
  ['1st of nothing', null, undefined],
  ['24.12.', '2026-12-24', undefined],
  ['15.12.2026', '2026-12-15', undefined],
  ['5.12.', '2026-12-05', undefined],
  ['15.12. 9.30', '2026-12-15', '09:30'],
  ['5.12.26', null, undefined],
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

// The server tests its parser with the same file.
test('readDate parses dates in words like the server', () => {
  const { times } = JSON.parse(readFileSync('../internal/query/testdata/words.json', 'utf8')) as {
    times: { now: string; zone: string; both: Record<string, string>; server?: Record<string, string> }[]
  }
  for (const { now, zone, both, server = {} } of times) {
    const read = (text: string) => readDate(text, new Date(now), zone)
    for (const [text, date] of Object.entries(both)) expect({ text, ...read(text) }).toEqual({ text, date })
    for (const [text, date] of Object.entries(server)) expect([null, { date }]).toContainEqual(read(text))
  }
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
