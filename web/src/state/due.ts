// Due and start dates of cards, in time zones.
import type { Session } from '../api/contract'
import type { Card, DueInput } from '../api/types'

export type Due = Pick<Card, 'dueDate' | 'dueAt' | 'startDate' | 'startAt' | 'timeZone'>

type Clock = { date: string; time: string }

const formats = new Map<string, Intl.DateTimeFormat>()
const offsets = new Map<string, number>()
const maxOffsets = 4096
const day = 24 * 60 * 60_000 // ms
const week = 7 * day

/** Returns the calendar date and the time of day in a time zone. */
export function wallClock(instant: Date, timeZone: string): Clock {
  const at = instant.getTime()
  const local = new Date(at + offset(at, timeZone)).toISOString()
  return { date: local.slice(0, 10), time: local.slice(11, 16) }
}

let serverOffsets: { zone: string; spans: { from: number; until: number; offset: number }[] } = { zone: '', spans: [] }

/** Stores the UTC offsets that the server sent for the reader's time zone. */
export function setServerOffsets(zone: string, offsets: Session['zoneOffsets']): void {
  const span = (o: (typeof offsets)[number]) => ({
    from: Date.parse(o.from),
    until: Date.parse(o.until),
    offset: o.seconds * 1000,
  })
  serverOffsets = { zone, spans: offsets.map(span) }
}

/**
 * Returns the UTC offset of a time zone in milliseconds. A board needs an offset for
 * each card, but Intl is slow: its first call takes tens of milliseconds. The offset
 * therefore comes from the server if possible. Otherwise Intl computes it for both
 * ends of the week, and for the exact minute only if those two offsets differ.
 */
function offset(at: number, timeZone: string): number {
  const span =
    serverOffsets.zone === timeZone && serverOffsets.spans.find(({ from, until }) => from <= at && at < until)
  if (span) return span.offset
  const weekStart = Math.floor(at / week) * week
  const startOffset = cachedOffset(weekStart, timeZone)
  return startOffset === cachedOffset(weekStart + week, timeZone)
    ? startOffset
    : cachedOffset(Math.floor(at / 60_000) * 60_000, timeZone)
}

function cachedOffset(at: number, timeZone: string): number {
  const key = `${at} ${timeZone}`
  let found = offsets.get(key)
  if (found === undefined) {
    if (offsets.size >= maxOffsets) offsets.clear()
    found = computeOffset(at, timeZone)
    offsets.set(key, found)
  }
  return found
}

function computeOffset(at: number, timeZone: string): number {
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
  const parts: Record<string, string> = {}
  for (const p of format.formatToParts(at)) parts[p.type] = p.value
  const { year, month, day, hour, minute, second } = parts
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - at
}

/**
 * Returns the instant of a date and time in a time zone, as the server does. A time in a daylight saving gap moves
 * forward by the length of the gap. A time that occurs twice means its first instant.
 */
export function instantOf(date: string, time: string, timeZone: string): string {
  const target = Date.parse(`${date}T${time}:00Z`)
  const withOffsetAt = (at: number) => target - offset(at, timeZone)
  // The clock may change between these two.
  const [before, after] = [withOffsetAt(target - day), withOffsetAt(target + day)]
  const showsTarget = (at: number) => at + offset(at, timeZone) === target
  return new Date(!showsTarget(before) && showsTarget(after) ? after : before).toISOString()
}

/** Returns the dates that the server will compute from an input. */
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

/** Returns the input that produces the given dates. */
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

/** A change of dates. An omitted date stays unchanged, and null removes a date. */
export type DateChange = { due?: Moment | null; start?: Moment | null; timeZone?: string }

/** Returns the dates after a change. An unchanged time is converted to the new time zone. */
export function withDates(due: Due, to: DateChange): DueInput {
  const current = inputOf(due)
  const zone = to.timeZone ?? current.timeZone
  const converted = (at: string | null) => (at && zone ? wallClock(new Date(at), zone) : null)
  const moment = (change: Moment | null | undefined, date: string | undefined, at: string | null): Moment | null => {
    if (change !== undefined) return change
    return converted(at) ?? (date ? { date } : null)
  }
  const dueDay = moment(to.due, current.dueDate, due.dueAt)
  const starts = moment(to.start, current.startDate, due.startAt)
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
  // In a time zone far to the west, the due day may be before the start date.
  return first <= last ? { first, last } : { first: last, last: first }
}

/** Returns the dates moved by a number of days. The times of day stay the same in the dates’ own time zone. */
export function shifted(due: Due, days: number): DueInput {
  const current = inputOf(due)
  const later = (date: string | undefined) => (date ? addDays(date, days) : undefined)
  return { ...current, dueDate: later(current.dueDate), startDate: later(current.startDate) }
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

/** Formats a due date: "Today", "Tomorrow 09:30", "3 Dec", "3 Dec 2027". */
export function dueText(due: Pick<Due, 'dueDate' | 'dueAt'>, now: Date, timeZone: string): string {
  if (!due.dueDate) return ''
  const { date, time } = due.dueAt ? wallClock(new Date(due.dueAt), timeZone) : { date: due.dueDate, time: '' }
  return [dayText(date, now, timeZone), time].filter(Boolean).join(' ')
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
