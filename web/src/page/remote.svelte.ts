// Server data of a page. It is loaded when the page opens, reloaded when the tab
// becomes visible again, and updated optimistically by the page itself.
import { body, reason } from '../api/client'

type Page<T> = { data: T[]; nextCursor?: string }
type Asked<T> = Promise<{ data?: Page<T>; error?: unknown; response: Response }>

export type Remote<T> = {
  readonly value: T | undefined
  /** Why there is no value. */
  readonly problem: string | null
  readonly loading: boolean
  set: (value: T) => void
  reload: () => Promise<void>
}

const staleAfter = 15_000

/** Holds the result of `load`, and loads again when state that `load` reads changes. */
export function remote<T>(load: () => Promise<T>): Remote<T> {
  let value = $state.raw<T>()
  let problem = $state<string | null>(null)
  let loading = $state(true)
  let generation = 0
  let at = 0

  async function run(request: Promise<T>): Promise<void> {
    const current = ++generation
    loading = true
    try {
      const found = await request
      if (current !== generation) return
      value = found
      problem = null
      at = Date.now()
    } catch (thrown) {
      if (current === generation && value === undefined) problem = reason(thrown)
    } finally {
      if (current === generation) loading = false
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
      generation++ // ignore responses still on their way
      value = next
      loading = false
    },
    reload: () => run(load()),
  }
}

/** A list that is loaded page by page. Only the latest request counts. */
export function paged<T>(page: (cursor: string | undefined) => Asked<T>) {
  let items = $state.raw<T[] | null>(null)
  let next = $state<string | undefined>()
  let loading = $state(false)
  let problem = $state<string | null>(null)
  let generation = 0

  async function read(cursor?: string): Promise<void> {
    const current = ++generation
    loading = true
    try {
      const response: Page<T> = await body(page(cursor))
      if (current !== generation) return
      items = cursor ? [...(items ?? []), ...response.data] : response.data
      next = response.nextCursor
      problem = null
    } catch (thrown) {
      if (current === generation) problem = reason(thrown)
    } finally {
      if (current === generation) loading = false
    }
  }

  return {
    /** Null until the first page has loaded. */
    get items() {
      return items
    },
    /** Whether there are more pages. */
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

/** Returns all records of a paged list. */
export async function loadAll<T>(page: (query: { cursor?: string; limit: number }) => Asked<T>): Promise<T[]> {
  const records: T[] = []
  let cursor: string | undefined
  do {
    const response: Page<T> = await body(page({ cursor, limit: 200 }))
    records.push(...response.data)
    cursor = response.nextCursor
  } while (cursor)
  return records
}
