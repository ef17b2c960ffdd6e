// The live stream, which all tabs of a browser share. One tab, the leader, holds a
// lock, receives the stream and forwards it to the other tabs over a channel. While
// the stream is down, tabs poll list_board_changes instead.
import { clientId } from '../api/client'
import { randomId } from '../lib/id'
import type { Change } from './changes'
import { signedInAgain } from './session.svelte'

export type Person = { id: string; name: string }

export type Message =
  | { kind: 'hello'; boards: Record<string, number> }
  | { kind: 'change'; change: Change }
  | { kind: 'presence'; boardId: string; people: Person[] }
  | { kind: 'gone'; boardId: string }
  | { kind: 'notifications'; unread: number; newest: string }
  /** Reports that this tab has made changes that its open pages do not know. */
  | { kind: 'missed' }
  /** Reports whether the stream is connected. */
  | { kind: 'stream'; up: boolean }

/** A message between tabs. `want` subscribes a tab, and `who` asks all tabs to subscribe again. */
type TabMessage = { kind: 'want'; tab: string; boards: string[]; own: boolean } | { kind: 'who' } | Message

const channelName = 'cardwall-live'
const maxBoards = 50 // of a stream; the server refuses more
const subscriptionTtl = 150_000 // ms; browsers may run the timers of background tabs only once a minute

let started = false
let channel: BroadcastChannel | null = null
let source: EventSource | null = null
let leading = false
let connected = false
const listeners = new Map<string, Set<(message: Message) => void>>()
const notificationListeners = new Set<(message: Message) => void>()
const subscriptions = new Map<string, { boards: string[]; own: boolean; until: number }>()

/** Calls `listener` with the stream's state, then with each message for a board. The returned function unsubscribes. */
export function watch(boardId: string, listener: (message: Message) => void): () => void {
  start()
  const boardListeners = listeners.get(boardId) ?? new Set()
  boardListeners.add(listener)
  listeners.set(boardId, boardListeners)
  announce()
  listener({ kind: 'stream', up: connected })
  return () => {
    boardListeners.delete(listener)
    if (boardListeners.size === 0) listeners.delete(boardId)
    announce()
  }
}

/** Calls `listener` when the user's notifications change. The returned function unsubscribes. */
export function watchNotifications(listener: (message: Message) => void): () => void {
  start()
  notificationListeners.add(listener)
  announce()
  return () => {
    notificationListeners.delete(listener)
    announce()
  }
}

function start(): void {
  if (started) return
  started = true
  if ('BroadcastChannel' in globalThis && navigator.locks) {
    channel = new BroadcastChannel(channelName)
    channel.onmessage = (event: MessageEvent<TabMessage>) => receive(event.data)
    void navigator.locks.request(channelName, () => {
      leading = true
      channel?.postMessage({ kind: 'who' } satisfies TabMessage)
      announce() // a tab does not receive its own messages
      return new Promise(() => undefined) // keeps the lock until the tab closes
    })
  } else {
    leading = true
  }
  setInterval(announce, 20_000)
  addEventListener('pagehide', () =>
    channel?.postMessage({ kind: 'want', tab: clientId, boards: [], own: false } satisfies TabMessage),
  )
}

/** Tells the leader which boards this tab shows, and whether it follows the notifications. */
function announce(): void {
  const message: TabMessage = {
    kind: 'want',
    tab: clientId,
    boards: [...listeners.keys()],
    own: notificationListeners.size > 0,
  }
  channel?.postMessage(message)
  receive(message)
}

function receive(message: TabMessage): void {
  switch (message.kind) {
    case 'want':
      if (!leading) return
      // Only a new stream reports the state of a board to a tab that has just opened it.
      if (message.boards.some((id) => !subscriptions.get(message.tab)?.boards.includes(id))) streamBoards = null
      subscriptions.set(message.tab, {
        boards: message.boards,
        own: message.own,
        until: Date.now() + subscriptionTtl,
      })
      scheduleReopen()
      return
    case 'who':
      announce()
      return
    case 'stream':
      connected = message.up
      break
  }
  deliver(message)
}

/** Calls the listeners of this tab. */
export function deliver(message: Message): void {
  if (message.kind === 'notifications') {
    for (const listener of notificationListeners) listener(message)
    return
  }
  for (const [boardId, boardListeners] of listeners) {
    if (message.kind === 'change' && message.change.boardId !== boardId) continue
    if ((message.kind === 'presence' || message.kind === 'gone') && message.boardId !== boardId) continue
    for (const listener of boardListeners) listener(message)
  }
}

/** Sends a message from the leader to all tabs, including its own. */
function broadcast(message: Message): void {
  channel?.postMessage(message)
  receive(message)
}

let reopenTimer: ReturnType<typeof setTimeout> | undefined

function scheduleReopen(): void {
  clearTimeout(reopenTimer)
  reopenTimer = setTimeout(reopen, 30)
}

/** The boards of the open stream, joined by commas, or null without a stream. */
let streamBoards: string | null = null
/** The number of consecutive failed connections, which determines the backoff. */
let failures = 0

/**
 * Returns the boards of all tabs, up to the maximum of a stream. Those of tabs with the fewest boards come first: a tab
 * that shows one board depends on the stream most.
 */
export function boardsToReceive(tabs: { boards: string[] }[]): string[] {
  const fewestFirst = tabs.toSorted((a, b) => a.boards.length - b.boards.length)
  return [...new Set(fewestFirst.flatMap((t) => t.boards))].slice(0, maxBoards).sort()
}

function reopen(): void {
  if (!leading) return
  const now = Date.now()
  for (const [tab, { boards, own, until }] of subscriptions)
    if (until < now || (boards.length === 0 && !own)) subscriptions.delete(tab)
  const boards = subscriptions.size > 0 ? boardsToReceive([...subscriptions.values()]).join(',') : null
  if (boards === streamBoards && source && source.readyState !== EventSource.CLOSED) return
  source?.close()
  source = null
  streamBoards = boards
  if (boards === null) return
  const stream = new EventSource(`/api/app/v1/live?boards=${boards}&client=${randomId()}`)
  source = stream
  const on = <T>(name: string, handle: (data: T) => void) =>
    stream.addEventListener(name, (event) => handle(JSON.parse((event as MessageEvent<string>).data) as T))
  on<{ boards: Record<string, number> }>('hello', ({ boards: versions }) => {
    failures = 0
    broadcast({ kind: 'stream', up: true })
    broadcast({ kind: 'hello', boards: versions })
  })
  on<Change>('change', (change) => broadcast({ kind: 'change', change }))
  on<{ boardId: string; people: Person[] }>('presence', (p) => broadcast({ kind: 'presence', ...p }))
  on<{ boardId: string }>('gone', ({ boardId }) => broadcast({ kind: 'gone', boardId }))
  on<{ unread: number; newest: string }>('notifications', (n) => broadcast({ kind: 'notifications', ...n }))
  stream.onerror = () => {
    broadcast({ kind: 'stream', up: false })
    // An EventSource reconnects by itself, except after an error status.
    if (stream.readyState !== EventSource.CLOSED || source !== stream) return
    // If the session has ended, wait for the next sign-in.
    setTimeout(
      () =>
        void signedInAgain()
          .catch(() => false)
          .then(reopen),
      Math.min(1000 * 2 ** failures++, 15_000) * (0.75 + Math.random() / 2),
    )
  }
}
