/** "21 Nov, 14:02:10", and the year when it is another one. */
export function momentText(instant: string, timeZone: string, now = new Date(), language = 'en-GB'): string {
  const at = new Date(instant)
  const year = at.getUTCFullYear() === now.getUTCFullYear() ? undefined : 'numeric'
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    day: 'numeric',
    month: 'short',
    year,
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone,
  }).format(at)
}

/** "in 28 s", "in 9 min", "in 3 h"; "now" when it is due. */
export function soonText(instant: string, now: number): string {
  const seconds = Math.ceil((Date.parse(instant) - now) / 1000)
  if (seconds <= 0) return 'now'
  if (seconds < 90) return `in ${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`
}

/** "84 ms", "1.2 s". */
export const durationText = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)
