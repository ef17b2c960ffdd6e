// Axis ticks and the format of durations in charts.

/** Returns evenly spaced integers from 0 to at least `max`, in about `count` steps. */
export function ticks(max: number, count = 4): number[] {
  const minStep = Math.max(1, max) / count
  const power = 10 ** Math.floor(Math.log10(minStep))
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((n) => n * power).find((n) => n >= minStep)!,
  )
  return Array.from({ length: Math.max(1, Math.ceil(max / step)) + 1 }, (_, i) => i * step)
}

/** Formats a duration in a single unit: "< 1 min", "40 min", "6.5 hours", "3.2 days". */
export function durationText(seconds: number): string {
  if (seconds < 60) return '< 1 min'
  const [unitLength, unit, units] =
    seconds < 3600 ? [60, 'min', 'min'] : seconds < 48 * 3600 ? [3600, 'hour', 'hours'] : [86_400, 'day', 'days']
  const n = seconds / unitLength
  const rounded = n < 10 && unit !== 'min' ? Math.round(n * 10) / 10 : Math.round(n)
  return `${rounded.toLocaleString('en')} ${rounded === 1 ? unit : units}`
}
