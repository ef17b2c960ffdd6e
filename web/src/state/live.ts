// The live stream, one for the whole browser. The leader, the tab that holds the
// lock, receives it and forwards it to the other tabs over a channel. Without a
// stream, tabs poll list_board_changes instead.
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
  /** Whether the stream is connected. Without it, tabs poll. */
  | { kind: 'stream'; up: boolean }

type TabMessage = { kind: 'want'; tab: string; boards: string[]; own: boolean } | { kind: 'who' } | Message

const channelName = 'cardwall-live'
const subscriptionTtl = 150_000 // background tabs may run timers only once a minute

let started = false
let channel: BroadcastChannel | null = null
let source: EventSource | null = null
let leading = false
let connected = false
const listeners = new Map<string, Set<(message: Message) => void>>()
const notificationListeners = new Set<(message: Message) => void>()
const subscriptions = new Map<string, { boards: string[]; own: boolean; until: number }>()

/** Calls `listener` for messages about a board, first with the state of the stream. The returned function stops it. */
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

/** Calls `listener` for the person's notifications. The returned function stops it. */
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
      announce() // a tab does not receive its own message
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

/** Announces to the leader which boards this tab shows. */
function announce(): void {
  const want: TabMessage = {
    kind: 'want',
    tab: clientId,
    boards: [...listeners.keys()],
    own: notificationListeners.size > 0,
  }
  channel?.postMessage(want)
  receive(want)
}

function receive(message: TabMessage): void {
  switch (message.kind) {
    case 'want':
      if (!leading) return
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

function deliver(message: Message): void {
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

let open: string | null = null
/** The number of consecutive failed connections, for the backoff. */
let failures = 0

function reopen(): void {
  if (!leading) return
  const now = Date.now()
  for (const [tab, want] of subscriptions)
    if (want.until < now || (want.boards.length === 0 && !want.own)) subscriptions.delete(tab)
  const boards =
    subscriptions.size > 0 ? [...new Set([...subscriptions.values()].flatMap((w) => w.boards))].sort().join(',') : null
  if (boards === open && source && source.readyState !== EventSource.CLOSED) return
  source?.close()
  source = null
  open = boards
  if (boards === null) return
  const stream = new EventSource(`/api/app/v1/live?boards=${boards}&client=${randomId()}`)
  source = stream
  const on = <T>(name: string, then: (data: T) => void) =>
    stream.addEventListener(name, (event) => then(JSON.parse((event as MessageEvent<string>).data) as T))
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
    // The session may have ended. Then wait for the next sign-in.
    setTimeout(
      () =>
        void signedInAgain()
          .catch(() => false)
          .then(reopen),
      Math.min(1000 * 2 ** failures++, 15_000) * (0.75 + Math.random() / 2),
    )
  }
}
