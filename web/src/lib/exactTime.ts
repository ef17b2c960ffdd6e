/** Formats an instant to the second: "21 Nov, 14:02:10". Adds the year if it is not the current one. */
export function momentText(instant: string, timeZone: string, now = new Date(), language = 'en-GB'): string {
  const date = new Date(instant)
  const year = date.getUTCFullYear() === now.getUTCFullYear() ? undefined : 'numeric'
  return format(language === 'en' ? 'en-GB' : language, timeZone, year).format(date)
}

// Creating a formatter is slow, so formatters are cached.
const formats = new Map<string, Intl.DateTimeFormat>()

function format(language: string, timeZone: string, year: 'numeric' | undefined): Intl.DateTimeFormat {
  const key = [language, timeZone, year].join(' ')
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
  const formatter =
    formats.get(key) ?? new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year, ...clock, timeZone })
  formats.set(key, formatter)
  return formatter
}

/** Formats the time until an instant: "in 28 s", "in 9 min", "in 3 h", or "now". */
export function soonText(instant: string, now: number): string {
  const seconds = Math.ceil((Date.parse(instant) - now) / 1000)
  if (seconds <= 0) return 'now'
  if (seconds < 90) return `in ${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`
}

/** Formats a duration in milliseconds: "84 ms", "1.2 s". */
export const durationText = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)
