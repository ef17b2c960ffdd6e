// Formats of points in time.
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const steps: [number, number, Intl.RelativeTimeFormatUnit][] = [
  [hour, minute, 'minute'],
  [day, hour, 'hour'],
  [30 * day, day, 'day'],
  [365 * day, 30 * day, 'month'],
]
const year = [Infinity, 365 * day, 'year'] as const

// Creating a formatter is slow, so each is created once.
const formats = new Map<string, Intl.RelativeTimeFormat>()

function relative(language: string): Intl.RelativeTimeFormat {
  const formatter = formats.get(language) ?? new Intl.RelativeTimeFormat(language)
  formats.set(language, formatter)
  return formatter
}

/** "just now", "5 minutes ago", "in 3 days". */
export function agoText(instant: string, now: Date, language = 'en-GB'): string {
  const difference = Date.parse(instant) - now.getTime()
  const size = Math.abs(difference)
  if (size < minute) return 'just now'
  const [, unit, name] = steps.find(([until]) => size < until) ?? year
  return relative(known(language)).format(Math.trunc(difference / unit), name)
}

/** "21 November 2026", with no-break spaces. */
export function dateText(instant: string, timeZone: string, language = 'en-GB'): string {
  const format = new Intl.DateTimeFormat(known(language), { dateStyle: 'long', timeZone })
  return format.format(new Date(instant)).replaceAll(' ', '\u00a0')
}

/** "21 Nov 2026", for lists. */
export function shortDateText(instant: string, timeZone: string, language = 'en-GB'): string {
  const format = new Intl.DateTimeFormat(known(language), { dateStyle: 'medium', timeZone })
  return format.format(new Date(instant)).replaceAll(' ', '\u00a0')
}

/**
 * Returns the number of days until an instant, rounded up. Clocks of server and
 * browser may differ, so up to an hour more than 14 days counts as 14.
 */
export function daysLeft(instant: string, now: Date): number {
  const difference = Date.parse(instant) - now.getTime()
  return difference <= 0 ? 0 : Math.max(1, Math.ceil((difference - hour) / day))
}

export const daysText = (n: number): string => (n === 1 ? '1 day' : `${n} days`)

/** Formats "en" as British English, with the day before the month. */
const known = (language: string): string => (language === 'en' ? 'en-GB' : language)
