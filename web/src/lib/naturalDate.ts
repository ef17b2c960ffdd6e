// Parses dates in natural language: "tomorrow 9am", "fri", "in 3 days", "24 dec
// 14:30 Berlin", and ranges such as "mon to fri".
import { addDays, wallClock } from '../state/due'
import { zoneIn } from './zoneNames'

/** A day with an optional time of day. */
export type Day = { date: string; time?: string }

const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const pad = (n: number) => String(n).padStart(2, '0')

/** Returns a date as YYYY-MM-DD, or null if there is no such day. */
function dateOf(year: number, month: number, day: number): string | null {
  const at = new Date(Date.UTC(year, month - 1, day))
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === day ? at.toISOString().slice(0, 10) : null
}

/** Finds a time of day in the text. Returns it with the rest of the text, or null if there is none. */
function timeIn(text: string): { time: string; rest: string } | null {
  // "15.12.2026" and "5.12." are dates.
  const clock =
    /(?<!\.)\b(?:at\s+)?(\d{1,2})[:.](\d{2})(?!\.)\s*(am|pm)?\b/.exec(text) ??
    /\b(?:at\s+)?(\d{1,2})()\s*(am|pm)\b/.exec(text)
  const word = /\b(noon|midday)\b/.exec(text)
  if (!clock && word) return { time: '12:00', rest: text.replace(word[0], ' ') }
  if (!clock) return null
  let hour = Number(clock[1])
  const minute = Number(clock[2] || 0)
  if (clock[3] === 'pm' && hour < 12) hour += 12
  if (clock[3] === 'am' && hour === 12) hour = 0
  if (hour > 23 || minute > 59) return null
  return { time: `${pad(hour)}:${pad(minute)}`, rest: text.replace(clock[0], ' ') }
}

/** Parses a time of day: "15:00", "3pm", "9". Returns null if the text is not a time. */
export function readTime(text: string): string | null {
  const normalized = text.trim().toLowerCase()
  const hour = /^\d{1,2}$/.test(normalized) ? `${normalized}:00` : normalized
  const match = timeIn(hour)
  return match && match.rest.trim() === '' ? match.time : null
}

/**
 * Parses a due date, a start date ("start …") or both ("from … to …", "start …, due …").
 * If the text names a time zone, that zone applies and is part of the result. Otherwise
 * `timeZone` applies. Returns null if the text is not valid.
 */
export function readSpan(
  text: string,
  now: Date,
  timeZone: string,
): { due?: Day; start?: Day; timeZone?: string } | null {
  const named = zoneIn(text)
  const zone = named?.zone ?? timeZone
  const normalized = (named?.rest ?? text).trim().toLowerCase()
  const day = (words: string) => readDate(words, now, zone)
  const startOnly = /^(?:starts?|from)\s+(.+)$/.exec(normalized)
  const pair = (startOnly?.[1] ?? normalized).split(/\s+(?:to|until|till|due|–|-)\s+|\s*,\s*due\s+/)
  const namedZone = named ? { timeZone: zone } : {}
  if (pair.length === 2) {
    const [start, due] = [day(pair[0]!), day(pair[1]!)]
    return start && due ? { start, due, ...namedZone } : null
  }
  const single = day(startOnly && /^starts?/.test(normalized) ? startOnly[1]! : normalized)
  if (!single) return null
  return startOnly ? { start: single, ...namedZone } : { due: single, ...namedZone }
}

/** Parses a date, a time or both in a time zone. A time alone means today. Returns null if the text is not valid. */
export function readDate(text: string, now: Date, timeZone: string): Day | null {
  const today = wallClock(now, timeZone).date
  const timed = timeIn(text.toLowerCase())
  const rest = (timed ? timed.rest : text.toLowerCase())
    .replace(/\b(on|by|due)\b/g, ' ')
    .replace(/[,]/g, ' ')
    .trim()
    .replace(/\s+/g, ' ')
  const date = rest === '' && timed ? today : dayIn(rest, today)
  if (!date) return null
  return timed ? { date, time: timed.time } : { date }
}

function dayIn(text: string, today: string): string | null {
  const [year, month] = today.split('-').map(Number) as [number, number, number]
  if (text === 'today') return today
  if (/^(tomorrow|tmr|tom)$/.test(text)) return addDays(today, 1)
  const duration = /^(?:in )?(\d{1,3}|a|one) ?(d|day|w|week|m|month)s?$/.exec(text)
  if (duration) {
    const n = /\d/.test(duration[1]!) ? Number(duration[1]) : 1
    if (duration[2]!.startsWith('d')) return addDays(today, n)
    if (duration[2]!.startsWith('w')) return addDays(today, 7 * n)
    const lastOfMonth = new Date(Date.UTC(year, month - 1 + n + 1, 0))
    const day = Math.min(Number(today.slice(8)), lastOfMonth.getUTCDate())
    return dateOf(lastOfMonth.getUTCFullYear(), lastOfMonth.getUTCMonth() + 1, day)
  }
  const weekday = /^(next )?([a-z]{3,9})$/.exec(text)
  if (text === 'next week') return addDays(today, (8 - new Date(`${today}T00:00Z`).getUTCDay()) % 7 || 7)
  if (weekday) {
    const index = days.findIndex((d) => d === weekday[2] || d.slice(0, weekday[2]!.length) === weekday[2])
    if (index >= 0) {
      const daysAhead = (index - new Date(`${today}T00:00Z`).getUTCDay() + 7) % 7 || 7
      return addDays(today, daysAhead)
    }
  }
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (iso) return dateOf(Number(iso[1]), Number(iso[2]), Number(iso[3]))
  const named =
    /^(\d{1,2})(?:st|nd|rd|th|\.)? ?([a-z]{3})[a-z]*(?: (\d{4}))?$/.exec(text) ??
    swapDayAndMonth(/^([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?: (\d{4}))?$/.exec(text))
  const numeric = /^(\d{1,2})\.(\d{1,2})\.?(\d{4})?$/.exec(text)
  const parts = named
    ? [Number(named[1]), months.indexOf(named[2]!) + 1, Number(named[3])]
    : numeric
      ? [Number(numeric[1]), Number(numeric[2]), Number(numeric[3])]
      : null
  if (!parts || !parts[1]) return null
  const [namedDay, namedMonth, namedYear] = parts as [number, number, number]
  if (namedYear) return dateOf(namedYear, namedMonth, namedDay)
  const thisYear = dateOf(year, namedMonth, namedDay)
  return thisYear && thisYear >= today ? thisYear : dateOf(year + 1, namedMonth, namedDay)
}

/** Swaps the first two groups of a match, so that month, day, year becomes day, month, year. */
function swapDayAndMonth(match: RegExpExecArray | null): (string | undefined)[] | null {
  return match && [match[0], match[2], match[1], match[3]]
}
