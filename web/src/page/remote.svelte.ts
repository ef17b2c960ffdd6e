// Server data of a page. It is loaded when the page opens. If it is stale when the tab
// becomes visible again, it is reloaded. The page may also update it optimistically.
import { body, reason } from '../api/client'

type Page<T> = { data: T[]; nextCursor?: string }
type PageRequest<T> = Promise<{ data?: Page<T>; error?: unknown; response: Response }>

export type Remote<T> = {
  readonly value: T | undefined
  /** Why the value couldn’t be loaded, or null. */
  readonly problem: string | null
  readonly loading: boolean
  set: (value: T) => void
  reload: () => Promise<void>
}

/** When the tab becomes visible, data older than this (in ms) is reloaded. */
const staleAfter = 15_000

/** Loads a value. Calls `load` again when reactive state that `load` reads changes. */
export function remote<T>(load: () => Promise<T>): Remote<T> {
  let value = $state.raw<T>()
  let problem = $state<string | null>(null)
  let loading = $state(true)
  let generation = 0
  let loadedAt = 0

  async function run(request: Promise<T>): Promise<void> {
    const current = ++generation
    loading = true
    try {
      const loaded = await request
      if (current !== generation) return
      value = loaded
      problem = null
      loadedAt = Date.now()
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
    const onVisibilityChange = () => {
      if (document.visibilityState === 'visible' && Date.now() - loadedAt > staleAfter) void run(load())
    }
    document.addEventListener('visibilitychange', onVisibilityChange)
    return () => document.removeEventListener('visibilitychange', onVisibilityChange)
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
      generation++ // ignore the responses to earlier requests
      value = next
      loading = false
    },
    reload: () => run(load()),
  }
}

/** Loads a list page by page. Ignores the responses to all requests but the latest. */
export function paged<T>(page: (cursor: string | undefined) => PageRequest<T>) {
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
    /** The loaded items, or null until the first page has loaded. */
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
    set(changed: T[] | null) {
      items = changed
    },
    load: () => read(),
    loadMore: () => read(next),
  }
}

/** Returns all records of a paged list. */
export async function loadAll<T>(page: (query: { cursor?: string; limit: number }) => PageRequest<T>): Promise<T[]> {
  const records: T[] = []
  let cursor: string | undefined
  do {
    const response: Page<T> = await body(page({ cursor, limit: 200 }))
    records.push(...response.data)
    cursor = response.nextCursor
  } while (cursor)
  return records
}
