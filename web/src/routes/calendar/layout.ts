// Where the bars of a week stand: which lane each has, and what has no room.

export type Bar = { id: string; first: string; last: string }

/** A card in a week: from which day, over how many, in which lane. */
export type Placed<T> = {
  bar: T
  from: number
  length: number
  lane: number
  /** Whether it began before the week, or goes on behind it. */
  before: boolean
  after: boolean
}

export type WeekLayout<T> = {
  /** Top lane first, then by day. */
  placed: readonly Placed<T>[]
  /** How many more each day has than are shown. */
  more: readonly number[]
  /** How many lanes are in use. */
  lanes: number
}

/**
 * Lays bars, which stand in their order, into the lanes of a week: each into
 * the first lane that is free on all its days, so that one bar stays in one
 * lane. Where more than `most` are needed on a day, the last lane of that day is
 * left free for saying how many more there are.
 */
export function layWeek<T extends Bar>(days: readonly string[], bars: readonly T[], most = Infinity): WeekLayout<T> {
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
  const over = days.map((_, day) => all.some((p) => p.lane >= most && on(p, day)))
  const hidden = (p: Placed<T>) => p.lane >= most || (p.lane === most - 1 && over.some((is, day) => is && on(p, day)))
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
