// Layout of the bars of a week in lanes.

export type Bar = { id: string; first: string; last: string }

/** The position of a card in a week: its first day, its number of days and its lane. */
export type Placed<T> = {
  bar: T
  from: number
  length: number
  lane: number
  /** Whether it starts before the week or ends after it. */
  before: boolean
  after: boolean
}

export type WeekLayout<T> = {
  /** Top lane first, then by day. */
  placed: readonly Placed<T>[]
  /** The number of hidden cards of each day. */
  more: readonly number[]
  /** The number of lanes in use. */
  lanes: number
}

/**
 * Assigns sorted bars to the lanes of a week. Each bar takes the first lane that
 * is free on all its days. If a day needs more than `max` lanes, its last lane
 * stays free for the "+n more" button.
 */
export function layoutWeek<T extends Bar>(days: readonly string[], bars: readonly T[], max = Infinity): WeekLayout<T> {
  const taken: boolean[][] = []
  const all: Placed<T>[] = []
  const monday = days[0]!
  const sunday = days.at(-1)!
  for (const bar of bars) {
    if (bar.last < monday || bar.first > sunday) continue
    const from = bar.first < monday ? 0 : days.indexOf(bar.first)
    const to = bar.last > sunday ? days.length - 1 : days.indexOf(bar.last)
    let lane = 0
    while (taken[lane]?.slice(from, to + 1).some(Boolean)) lane++
    const row = (taken[lane] ??= days.map(() => false))
    row.fill(true, from, to + 1)
    all.push({ bar, from, length: to - from + 1, lane, before: bar.first < monday, after: bar.last > sunday })
  }
  const over = days.map((_, day) => all.some((p) => p.lane >= max && on(p, day)))
  const hidden = (p: Placed<T>) => p.lane >= max || (p.lane === max - 1 && over.some((is, day) => is && on(p, day)))
  const placed = all.filter((p) => !hidden(p)).sort((a, b) => a.lane - b.lane || a.from - b.from)
  return {
    placed,
    more: days.map((_, day) => all.filter((p) => hidden(p) && on(p, day)).length),
    lanes: Math.max(0, ...placed.map((p) => p.lane + 1)),
  }
}

function on(placed: Placed<unknown>, day: number): boolean {
  return placed.from <= day && day < placed.from + placed.length
}
