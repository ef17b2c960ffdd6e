// Calendar days as strings in the format YYYY-MM-DD. They have no time zone, so
// daylight saving does not affect their arithmetic. Weeks begin on Monday (ISO 8601).
import { addDays } from '../state/due'

const at = (date: string): Date => new Date(`${date}T00:00:00Z`)
const dayLength = 86_400_000 // ms

/** Reports whether the text is a valid date from 1900 to 2999. It returns false for 2026-02-30. */
export function isDay(text: string): boolean {
  if (!/^(19|2\d)\d{2}-\d{2}-\d{2}$/.test(text)) return false
  const date = at(text)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** Returns the day of the week, from 0 (Monday) to 6 (Sunday). */
export function weekdayOf(date: string): number {
  return (at(date).getUTCDay() + 6) % 7
}

export function mondayOf(date: string): string {
  return addDays(date, -weekdayOf(date))
}

/** Returns the number of days from `from` to `to`. The result is negative if `to` is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((at(to).getTime() - at(from).getTime()) / dayLength)
}

/** Adds months to a date. If the resulting month is too short, returns its last day. */
export function addMonths(date: string, months: number): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  const last = new Date(Date.UTC(year, month + months, 0))
  last.setUTCDate(Math.min(day, last.getUTCDate()))
  return last.toISOString().slice(0, 10)
}

/** Returns the seven days of the week that contains `date`. */
export function weekOf(date: string): string[] {
  const monday = mondayOf(date)
  return Array.from({ length: 7 }, (_, i) => addDays(monday, i))
}

/** Returns the four to six weeks that overlap the month of `date`. */
export function weeksOfMonth(date: string): string[][] {
  const month = date.slice(0, 7)
  const weeks: string[][] = []
  for (let day = mondayOf(`${month}-01`); day.slice(0, 7) <= month; day = addDays(day, 7)) weeks.push(weekOf(day))
  return weeks
}

/** Returns the ISO 8601 week number. A week belongs to the year of its Thursday. */
export function weekNumber(date: string): number {
  const thursday = addDays(mondayOf(date), 3)
  return Math.floor(daysBetween(`${thursday.slice(0, 4)}-01-01`, thursday) / 7) + 1
}

const formats = new Map<string, Intl.DateTimeFormat>()

function format(key: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  let formatter = formats.get(key)
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })
    formats.set(key, formatter)
  }
  return formatter
}

/** Formats the month of a day: "March 2026". */
export function monthText(date: string): string {
  return format('month', { month: 'long', year: 'numeric' }).format(at(date))
}

/** Formats a day: "Friday 4 December". Adds the year if it differs from the year of `near`. */
export function longDay(date: string, near = date): string {
  const year = date.slice(0, 4) === near.slice(0, 4) ? undefined : 'numeric'
  return format(`long ${year ?? ''}`, { weekday: 'long', day: 'numeric', month: 'long', year })
    .format(at(date))
    .replace(',', '')
}

/** Formats a day: "Fri 4 Dec". */
export function shortDay(date: string): string {
  return format('short', { weekday: 'short', day: 'numeric', month: 'short' }).format(at(date)).replace(',', '')
}

/** Formats the weekday of a day: "Mon" or "Monday". */
export function weekdayText(date: string, width: 'short' | 'long' = 'short'): string {
  return format(`weekday ${width}`, { weekday: width }).format(at(date))
}

/** Formats a range: "2 – 8 Mar 2026", "30 Mar – 5 Apr 2026", "28 Dec 2026 – 3 Jan 2027". */
export function rangeText(first: string, last: string): string {
  return format('range', { day: 'numeric', month: 'short', year: 'numeric' })
    .formatRange(at(first), at(last))
    .replace(/\s*[-–]\s*/, ' – ')
}
