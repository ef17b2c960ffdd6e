// Assigns the bars of a week to lanes.

export type Bar = { id: string; first: string; last: string }

/** The position of a card in a week: its first day, its number of days and its lane. */
export type Placed<T> = {
  bar: T
  from: number
  length: number
  lane: number
  /** Whether the bar starts before the week. */
  before: boolean
  /** Whether the bar ends after the week. */
  after: boolean
}

export type WeekLayout<T> = {
  /** The visible bars, sorted by lane and day. */
  placed: readonly Placed<T>[]
  /** The number of hidden bars on each day. */
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
  const allPlaced: Placed<T>[] = []
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
    allPlaced.push({ bar, from, length: to - from + 1, lane, before: bar.first < monday, after: bar.last > sunday })
  }
  const overflows = days.map((_, day) => allPlaced.some((p) => p.lane >= max && on(p, day)))
  const hidden = (p: Placed<T>) =>
    p.lane >= max || (p.lane === max - 1 && overflows.some((full, day) => full && on(p, day)))
  const placed = allPlaced.filter((p) => !hidden(p)).sort((a, b) => a.lane - b.lane || a.from - b.from)
  return {
    placed,
    more: days.map((_, day) => allPlaced.filter((p) => hidden(p) && on(p, day)).length),
    lanes: Math.max(0, ...placed.map((p) => p.lane + 1)),
  }
}

function on(placed: Placed<unknown>, day: number): boolean {
  return placed.from <= day && day < placed.from + placed.length
}
