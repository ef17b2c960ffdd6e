// Reloads the data of a page when the boards that it comes from change.
import { clientId } from '../api/client'
import { watch, type Message } from '../state/live'

const maxWatched = 20 // boards of a page; the live stream of a browser receives at most 50

type Options = {
  /** The delay in ms between a change and the reload. Further changes until then cause no other reload. */
  delay: number
  /** Reloads the data. `boardIds` are the boards of which more than the cards may have changed. */
  reload: (boardIds: ReadonlySet<string>) => void
  /** Whether to reload after changes by this tab, too. */
  own?: boolean
  /** Reports whether the page cannot reload yet. It then reloads later. */
  isBusy?: () => boolean
}

/**
 * Reloads shortly after another client changes one of the first 20 boards, or after the stream reconnects if they have
 * changed meanwhile. A hidden page reloads when it becomes visible. Call it while a component initializes.
 */
export function reloadOnChanges(boardIds: () => Iterable<string>, { delay, reload, own, isBusy }: Options): void {
  const all = $derived([...new Set(boardIds())])
  // A string, so that the effect below runs again only if the boards differ.
  const watched = $derived(all.slice(0, maxWatched).sort().join(','))
  const hasUnwatched = $derived(all.length > maxWatched)
  const versions = new Map<string, number>()
  let changed = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      if (document.hidden || isBusy?.()) return schedule()
      const boards = changed
      changed = new Set()
      reload(boards)
    }, delay)
  }

  function receive(boardId: string, message: Message): void {
    switch (message.kind) {
      case 'hello': {
        const previous = versions.get(boardId)
        const version = message.boards[boardId]
        if (version === undefined) return
        versions.set(boardId, version)
        if (previous === undefined || version <= previous) return
        break
      }
      case 'change':
        versions.set(boardId, message.change.boardVersion)
        if (message.change.client === clientId && !own) return
        if (message.change.cardId) return schedule()
        break
      case 'gone':
      case 'missed':
        break
      default:
        return
    }
    changed.add(boardId)
    schedule()
  }

  $effect(() => {
    const stops = (watched ? watched.split(',') : []).map((id) => watch(id, (message) => receive(id, message)))
    return () => stops.forEach((stop) => stop())
  })
  $effect(() => {
    if (!hasUnwatched) return
    document.addEventListener('visibilitychange', schedule)
    return () => document.removeEventListener('visibilitychange', schedule)
  })
  $effect(() => () => clearTimeout(timer))
}

/** Returns the IDs of boards, the most recently changed first. */
export const newestFirst = (boards: readonly { id: string; updatedAt: string }[]): string[] =>
  boards.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1)).map((b) => b.id)
