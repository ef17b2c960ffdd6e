// Calendar days as text, YYYY-MM-DD: they have no zone and no time, so none of
// this arithmetic knows of daylight saving. Weeks begin on Monday (ISO 8601).
import { addDays } from '../state/due'

const at = (date: string): Date => new Date(`${date}T00:00:00Z`)
const dayLength = 86_400_000

/** Whether a text is a day of the calendar: 2026-02-30 is none. */
export function isDay(text: string): boolean {
  if (!/^(19|2\d)\d{2}-\d{2}-\d{2}$/.test(text)) return false
  const found = at(text)
  return !Number.isNaN(found.getTime()) && found.toISOString().startsWith(text)
}

/** 0 is Monday, 6 is Sunday. */
export function weekdayOf(date: string): number {
  return (at(date).getUTCDay() + 6) % 7
}

export function mondayOf(date: string): string {
  return addDays(date, -weekdayOf(date))
}

/** How many days later `to` is; negative when it is earlier. */
export function daysBetween(from: string, to: string): number {
  return Math.round((at(to).getTime() - at(from).getTime()) / dayLength)
}

/** The same day of another month, or that month's last one. */
export function addMonths(date: string, months: number): string {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  const last = new Date(Date.UTC(year, month + months, 0))
  last.setUTCDate(Math.min(day, last.getUTCDate()))
  return last.toISOString().slice(0, 10)
}

/** The week that has a day in it. */
export function weekOf(date: string): string[] {
  const monday = mondayOf(date)
  return Array.from({ length: 7 }, (_, i) => addDays(monday, i))
}

/** The weeks that a month touches, four to six of them. */
export function weeksOfMonth(date: string): string[][] {
  const month = date.slice(0, 7)
  const weeks: string[][] = []
  for (let day = mondayOf(`${month}-01`); day.slice(0, 7) <= month; day = addDays(day, 7)) weeks.push(weekOf(day))
  return weeks
}

/** The number of the ISO week: that of its Thursday's year. */
export function weekNumber(date: string): number {
  const thursday = addDays(mondayOf(date), 3)
  return Math.floor(daysBetween(`${thursday.slice(0, 4)}-01-01`, thursday) / 7) + 1
}

const formats = new Map<string, Intl.DateTimeFormat>()

function format(key: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  let found = formats.get(key)
  if (!found) formats.set(key, (found = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })))
  return found
}

/** "March 2026". */
export function monthText(date: string): string {
  return format('month', { month: 'long', year: 'numeric' }).format(at(date))
}

/** "Friday 4 December", with the year when it is not that of `near`. */
export function longDay(date: string, near = date): string {
  const year = date.slice(0, 4) === near.slice(0, 4) ? undefined : 'numeric'
  return format(`long ${year ?? ''}`, { weekday: 'long', day: 'numeric', month: 'long', year })
    .format(at(date))
    .replace(',', '')
}

/** "Fri 4 Dec". */
export function shortDay(date: string): string {
  return format('short', { weekday: 'short', day: 'numeric', month: 'short' }).format(at(date)).replace(',', '')
}

/** "Mon" to "Sun". */
export function weekdayText(date: string, width: 'short' | 'long' = 'short'): string {
  return format(`weekday ${width}`, { weekday: width }).format(at(date))
}

/** "2 – 8 Mar 2026", "30 Mar – 5 Apr 2026", "28 Dec 2026 – 3 Jan 2027". */
export function rangeText(first: string, last: string): string {
  return format('range', { day: 'numeric', month: 'short', year: 'numeric' })
    .formatRange(at(first), at(last))
    .replace(/\s*[-–]\s*/, ' – ')
}
