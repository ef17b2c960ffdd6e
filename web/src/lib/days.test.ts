import { describe, expect, test } from 'vitest'
import { addDays } from '../state/due'
import {
  addMonths,
  daysBetween,
  isDay,
  longDay,
  mondayOf,
  rangeText,
  shortDay,
  weekNumber,
  weekOf,
  weeksOfMonth,
} from './days'

test('weeksOfMonth returns full weeks, from Monday to Sunday', () => {
  const march = weeksOfMonth('2026-03-14') // begins on a Sunday
  expect(march.length).toBe(6)
  expect(march[0]).toEqual(weekOf('2026-03-01'))
  expect(march[0]![0]).toBe('2026-02-23')
  expect(march.at(-1)!.at(-1)).toBe('2026-04-05')
  expect(weeksOfMonth('2027-02-10')).toHaveLength(4) // Monday the 1st to Sunday the 28th
  expect(weeksOfMonth('2027-02-10').flat()).toHaveLength(28)
})

test('weeksOfMonth returns consecutive days and at most six weeks for ten years', () => {
  for (let month = '2024-01-31'; month < '2034'; month = addMonths(month, 1)) {
    const days = weeksOfMonth(month).flat()
    expect(days.length % 7).toBe(0)
    expect(days.length).toBeLessThanOrEqual(42)
    expect(days).toContain(`${month.slice(0, 7)}-01`)
    for (const [i, day] of days.entries()) if (i > 0) expect(daysBetween(days[i - 1]!, day)).toBe(1)
  }
})

test('day arithmetic is correct across daylight saving changes, leap days and years', () => {
  expect(addDays('2026-03-28', 1)).toBe('2026-03-29') // 23 hours long in Berlin
  expect(daysBetween('2026-03-28', '2026-03-30')).toBe(2)
  expect(daysBetween('2026-10-24', '2026-10-26')).toBe(2)
  expect(daysBetween('2028-02-28', '2028-03-01')).toBe(2)
  expect(daysBetween('2026-01-01', '2025-12-31')).toBe(-1)
})

test('addMonths returns the same day or the last day of the month', () => {
  expect(addMonths('2026-01-31', 1)).toBe('2026-02-28')
  expect(addMonths('2028-01-31', 1)).toBe('2028-02-29')
  expect(addMonths('2026-03-15', -3)).toBe('2025-12-15')
  expect(addMonths('2026-12-01', 1)).toBe('2027-01-01')
})

test.each([
  ['2026-01-01', 1],
  ['2025-12-29', 1],
  ['2026-12-31', 53],
  ['2027-01-03', 53],
  ['2027-01-04', 1],
  ['2024-12-30', 1],
])('%s is in week %i', (date, week) => expect(weekNumber(date)).toBe(week))

describe('isDay', () => {
  test.each(['2026-02-30', '2026-13-01', '26-01-01', 'today', '', '2026-1-1', '0000-01-01'])('rejects "%s"', (text) =>
    expect(isDay(text)).toBe(false),
  )
  test('accepts 29 February only in leap years', () => {
    expect(isDay('2028-02-29')).toBe(true)
    expect(isDay('2026-02-29')).toBe(false)
  })
})

test('days and ranges are formatted in British English', () => {
  expect(mondayOf('2026-11-22')).toBe('2026-11-16')
  expect(longDay('2026-12-04')).toBe('Friday 4 December')
  expect(longDay('2027-01-01', '2026-12-04')).toBe('Friday 1 January 2027')
  expect(shortDay('2026-12-04')).toBe('Fri 4 Dec')
  expect(rangeText('2026-03-02', '2026-03-08')).toBe('2 – 8 Mar 2026')
  expect(rangeText('2026-03-30', '2026-04-05')).toBe('30 Mar – 5 Apr 2026')
  expect(rangeText('2026-12-28', '2027-01-03')).toBe('28 Dec 2026 – 3 Jan 2027')
})
