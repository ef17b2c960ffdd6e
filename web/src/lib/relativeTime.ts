// Formats instants relative to now, and as dates.
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

// Creating a formatter is slow, so formatters are cached.
const formats = new Map<string, Intl.RelativeTimeFormat>()

function relative(language: string): Intl.RelativeTimeFormat {
  const formatter = formats.get(language) ?? new Intl.RelativeTimeFormat(language)
  formats.set(language, formatter)
  return formatter
}

/** Formats an instant relative to now: "just now", "5 minutes ago", "in 3 days". */
export function agoText(instant: string, now: Date, language = 'en-GB'): string {
  const difference = Date.parse(instant) - now.getTime()
  const size = Math.abs(difference)
  if (size < minute) return 'just now'
  const [, unit, name] = steps.find(([until]) => size < until) ?? year
  return relative(localeOf(language)).format(Math.trunc(difference / unit), name)
}

/** Formats the date of an instant: "21 November 2026", with no-break spaces. */
export function dateText(instant: string, timeZone: string, language = 'en-GB'): string {
  const format = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'long', timeZone })
  return format.format(new Date(instant)).replaceAll(' ', '\u00a0')
}

/** Formats the date of an instant for lists: "21 Nov 2026", with no-break spaces. */
export function shortDateText(instant: string, timeZone: string, language = 'en-GB'): string {
  const format = new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeZone })
  return format.format(new Date(instant)).replaceAll(' ', '\u00a0')
}

/**
 * Returns the number of days until an instant, rounded up. The clocks of the server and
 * the browser may differ, so up to one extra hour is ignored: 14 days and 30 minutes
 * count as 14 days.
 */
export function daysLeft(instant: string, now: Date): number {
  const difference = Date.parse(instant) - now.getTime()
  return difference <= 0 ? 0 : Math.max(1, Math.ceil((difference - hour) / day))
}

export const daysText = (n: number): string => (n === 1 ? '1 day' : `${n} days`)

/** Returns British English for "en", so that the day precedes the month. */
const localeOf = (language: string): string => (language === 'en' ? 'en-GB' : language)
