// What a page shows of the server: loaded when the page opens, again when
// somebody comes back to the window, and patched at once by what is done here.
import { body, reason } from '../../api/client'

type Page<T> = { data: T[]; nextCursor?: string }
type Asked<T> = Promise<{ data?: Page<T>; error?: unknown; response: Response }>

export type Remote<T> = {
  readonly value: T | undefined
  /** Why there is nothing to show. */
  readonly problem: string | null
  readonly loading: boolean
  set: (value: T) => void
  reload: () => Promise<void>
}

const staleAfter = 15_000

/** Loads what `load` answers, and again whenever what it reads of the page changes. */
export function remote<T>(load: () => Promise<T>): Remote<T> {
  let value = $state.raw<T>()
  let problem = $state<string | null>(null)
  let loading = $state(true)
  let turn = 0
  let at = 0

  async function run(asked: Promise<T>): Promise<void> {
    const mine = ++turn
    loading = true
    try {
      const found = await asked
      if (mine !== turn) return
      value = found
      problem = null
      at = Date.now()
    } catch (thrown) {
      if (mine === turn && value === undefined) problem = reason(thrown)
    } finally {
      if (mine === turn) loading = false
    }
  }

  $effect(() => {
    value = undefined
    problem = null
    void run(load())
  })
  $effect(() => {
    const back = () => {
      if (document.visibilityState === 'visible' && Date.now() - at > staleAfter) void run(load())
    }
    document.addEventListener('visibilitychange', back)
    return () => document.removeEventListener('visibilitychange', back)
  })

  return {
    get value() {
      return value
    },
    get problem() {
      return problem
    },
    get loading() {
      return loading
    },
    set(next) {
      turn++ // an answer on its way is older
      value = next
      loading = false
    },
    reload: () => run(load()),
  }
}

/** A list that is read page by page. Of reads under way the latest counts. */
export function paged<T>(page: (cursor: string | undefined) => Asked<T>) {
  let items = $state.raw<T[] | null>(null)
  let next = $state<string | undefined>()
  let loading = $state(false)
  let problem = $state<string | null>(null)
  let turn = 0

  async function read(cursor?: string): Promise<void> {
    const mine = ++turn
    loading = true
    try {
      const answer: Page<T> = await body(page(cursor))
      if (mine !== turn) return
      items = cursor ? [...(items ?? []), ...answer.data] : answer.data
      next = answer.nextCursor
      problem = null
    } catch (thrown) {
      if (mine === turn) problem = reason(thrown)
    } finally {
      if (mine === turn) loading = false
    }
  }

  return {
    /** Null until the first page is there. */
    get items() {
      return items
    },
    /** Whether there are more than these. */
    get more() {
      return next !== undefined
    },
    get problem() {
      return problem
    },
    get loading() {
      return loading
    },
    set(shown: T[] | null) {
      items = shown
    },
    load: () => read(),
    loadMore: () => read(next),
  }
}

/** All records of a list of the application. */
export async function everything<T>(page: (query: { cursor?: string; limit: number }) => Asked<T>): Promise<T[]> {
  const records: T[] = []
  let cursor: string | undefined
  do {
    const answer: Page<T> = await body(page({ cursor, limit: 200 }))
    records.push(...answer.data)
    cursor = answer.nextCursor
  } while (cursor)
  return records
}
