// Requests the board of the current URL before the application has started, so that
// its data and code load in parallel.
import { app, data } from '../api/client'
import type { OpenedBoard } from '../api/contract'

type Prefetch = { boardId: string; opened: Promise<OpenedBoard>; result?: OpenedBoard }

let prefetch: Prefetch | null = null

/** Starts to load the board of a path. Does nothing if the path is not that of a board. */
export function prefetchBoard(path: string): void {
  const boardId = /^\/boards\/(\w+)$/.exec(path)?.[1]
  if (!boardId) return
  const started: Prefetch = { boardId, opened: load(boardId) }
  prefetch = started
  started.opened.then(
    (opened) => (started.result = opened),
    () => (prefetch = null), // the user may not be signed in
  )
}

/** Returns the prefetched board if it has already loaded, or null. Later calls return null. */
export function prefetchedBoard(boardId: string): OpenedBoard | null {
  if (prefetch?.boardId !== boardId || !prefetch.result) return null
  const { result } = prefetch
  prefetch = null
  return result
}

/** Loads a board with everything that its page shows. The first call uses the prefetched board. */
export function openBoard(boardId: string): Promise<OpenedBoard> {
  const started = prefetch
  prefetch = null
  return started?.boardId === boardId ? started.opened : load(boardId)
}

function load(boardId: string): Promise<OpenedBoard> {
  return data(app.GET('/boards/{boardId}/open', { params: { path: { boardId } } }))
}
