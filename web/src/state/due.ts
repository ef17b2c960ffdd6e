// Due and start dates of cards, in time zones.
import type { Session } from '../api/contract'
import type { Card, DueInput } from '../api/types'

export type Due = Pick<Card, 'dueDate' | 'dueAt' | 'startDate' | 'startAt' | 'timeZone'>

type Clock = { date: string; time: string }

const formats = new Map<string, Intl.DateTimeFormat>()
const offsets = new Map<string, number>()
const maxOffsets = 4096
const week = 7 * 24 * 60 * 60_000

/** Returns the calendar date and the time of day in a time zone. */
export function wallClock(instant: Date, timeZone: string): Clock {
  const at = instant.getTime()
  const shown = new Date(at + offset(at, timeZone)).toISOString()
  return { date: shown.slice(0, 10), time: shown.slice(11, 16) }
}

let serverOffsets: { zone: string; spans: { from: number; until: number; offset: number }[] } = { zone: '', spans: [] }

/** Stores the UTC offsets that the server sent for the reader's time zone. */
export function learnOffsets(zone: string, offsets: Session['zoneOffsets']): void {
  const span = (o: (typeof offsets)[number]) => ({
    from: Date.parse(o.from),
    until: Date.parse(o.until),
    offset: o.seconds * 1000,
  })
  serverOffsets = { zone, spans: offsets.map(span) }
}

/**
 * Returns the UTC offset of a time zone in milliseconds. Intl is slow, with tens of
 * milliseconds for the first call, and a board needs an offset for each card. So
 * this uses the server's offsets first, then asks Intl for both ends of a week, and
 * for an exact instant only in weeks in which the offset changes.
 */
function offset(at: number, timeZone: string): number {
  const span =
    serverOffsets.zone === timeZone && serverOffsets.spans.find(({ from, until }) => from <= at && at < until)
  if (span) return span.offset
  const begin = Math.floor(at / week) * week
  const before = knownOffset(begin, timeZone)
  return before === knownOffset(begin + week, timeZone)
    ? before
    : knownOffset(Math.floor(at / 60_000) * 60_000, timeZone)
}

function knownOffset(at: number, timeZone: string): number {
  const key = `${at} ${timeZone}`
  let found = offsets.get(key)
  if (found === undefined) {
    if (offsets.size >= maxOffsets) offsets.clear()
    found = readOffset(at, timeZone)
    offsets.set(key, found)
  }
  return found
}

function readOffset(at: number, timeZone: string): number {
  let format = formats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    })
    formats.set(timeZone, format)
  }
  const of: Record<string, string> = {}
  for (const p of format.formatToParts(at)) of[p.type] = p.value
  return Date.parse(`${of.year}-${of.month}-${of.day}T${of.hour}:${of.minute}:${of.second}Z`) - at
}

/** Returns the instant of a date and time in a time zone. A time in a daylight saving gap moves to after the gap. */
export function instantOf(date: string, time: string, timeZone: string): string {
  const wanted = Date.parse(`${date}T${time}:00Z`)
  let at = wanted
  for (let i = 0; i < 3; i++) {
    const shown = wallClock(new Date(at), timeZone)
    const off = wanted - Date.parse(`${shown.date}T${shown.time}:00Z`)
    if (off === 0) break
    at += off
  }
  return new Date(at).toISOString()
}

/** Returns the dates that the server is expected to compute from an input. */
export function resolve(input: DueInput): Due {
  const zone = input.timeZone || 'UTC'
  const at = (date?: string, time?: string) => (date && time ? instantOf(date, time, zone) : null)
  return {
    dueDate: input.dueDate || null,
    dueAt: at(input.dueDate, input.dueTime),
    startDate: input.startDate || null,
    startAt: at(input.startDate, input.startTime),
    timeZone: input.timeZone || null,
  }
}

/** Returns the input for the current dates of a card. */
export function inputOf(due: Due): DueInput {
  const zone = due.timeZone ?? 'UTC'
  const time = (at: string | null) => (at ? wallClock(new Date(at), zone).time : undefined)
  return {
    dueDate: due.dueDate ?? undefined,
    dueTime: time(due.dueAt),
    startDate: due.startDate ?? undefined,
    startTime: time(due.startAt),
    timeZone: due.timeZone ?? undefined,
  }
}

/** A day with an optional time of day. */
export type Moment = { date: string; time?: string }

/** A change of dates. An omitted date is unchanged; null removes it. */
export type DateChange = { due?: Moment | null; start?: Moment | null; timeZone?: string }

/** Returns the dates after a change. An unchanged time is converted to the new time zone. */
export function withDates(due: Due, to: DateChange): DueInput {
  const was = inputOf(due)
  const zone = to.timeZone ?? was.timeZone
  const kept = (at: string | null) => (at && zone ? wallClock(new Date(at), zone) : null)
  const moment = (change: Moment | null | undefined, date: string | undefined, at: string | null): Moment | null => {
    if (change !== undefined) return change
    return kept(at) ?? (date ? { date } : null)
  }
  const dueDay = moment(to.due, was.dueDate, due.dueAt)
  const starts = moment(to.start, was.startDate, due.startAt)
  return {
    dueDate: dueDay?.date,
    dueTime: dueDay?.time,
    startDate: starts?.date,
    startTime: starts?.time,
    timeZone: dueDay?.time || starts?.time ? zone : undefined,
  }
}

/** Returns the first and last day of a card in a time zone, or null if it has no date. */
export function spanOf(due: Due, timeZone: string): { first: string; last: string } | null {
  const day = (date: string | null, at: string | null) => (at ? wallClock(new Date(at), timeZone).date : date)
  const starts = day(due.startDate, due.startAt)
  const dueDay = day(due.dueDate, due.dueAt)
  const first = starts ?? dueDay
  const last = dueDay ?? starts
  if (!first || !last) return null
  // In a time zone far to the west, a due instant may be before the start date.
  return first <= last ? { first, last } : { first: last, last: first }
}

/** Returns the dates moved by a number of days, at the same times of day in their own time zone. */
export function shifted(due: Due, days: number): DueInput {
  const was = inputOf(due)
  const later = (date: string | undefined) => (date ? addDays(date, days) : undefined)
  return { ...was, dueDate: later(was.dueDate), startDate: later(was.startDate) }
}

export type Urgency = 'done' | 'overdue' | 'today' | 'soon' | 'later'

/** Returns how urgent a card is in a time zone, or null if it has no due date. */
export function urgency(
  card: Pick<Due, 'dueDate' | 'dueAt'> & { done: boolean },
  now: Date,
  timeZone: string,
): Urgency | null {
  if (!card.dueDate) return null
  if (card.done) return 'done'
  const today = wallClock(now, timeZone).date
  if (card.dueAt ? Date.parse(card.dueAt) < now.getTime() : card.dueDate < today) return 'overdue'
  const day = card.dueAt ? wallClock(new Date(card.dueAt), timeZone).date : card.dueDate
  if (day === today) return 'today'
  return day <= addDays(today, 2) ? 'soon' : 'later'
}

export function addDays(date: string, days: number): string {
  const at = new Date(`${date}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() + days)
  return at.toISOString().slice(0, 10)
}

/** "Today", "Tomorrow 09:30", "3 Dec", "3 Dec 2027". */
export function dueText(due: Pick<Due, 'dueDate' | 'dueAt'>, now: Date, timeZone: string): string {
  if (!due.dueDate) return ''
  const shown = due.dueAt ? wallClock(new Date(due.dueAt), timeZone) : { date: due.dueDate, time: '' }
  return [dayText(shown.date, now, timeZone), shown.time].filter(Boolean).join(' ')
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec'.split(' ')

export function dayText(date: string, now: Date, timeZone: string): string {
  const today = wallClock(now, timeZone).date
  if (date === today) return 'Today'
  if (date === addDays(today, 1)) return 'Tomorrow'
  if (date === addDays(today, -1)) return 'Yesterday'
  const [year, month, day] = date.split('-') as [string, string, string]
  const text = `${Number(day)} ${months[Number(month) - 1]}`
  return year === today.slice(0, 4) ? text : `${text} ${year}`
}
