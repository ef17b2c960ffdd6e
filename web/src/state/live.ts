// The live stream: one for the whole browser. The tab that holds the lock
// listens for all; the others hear it over a channel. Where the browser or the
// server has no stream, tabs ask list_board_changes instead.
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
  /** Whether the stream stands; without it tabs poll. */
  | { kind: 'stream'; up: boolean }

type Talk = { kind: 'want'; tab: string; boards: string[]; own: boolean } | { kind: 'who' } | Message

const channelName = 'cardwall-live'
const wantFor = 150_000 // a tab in the background may speak only once a minute

let started = false
let channel: BroadcastChannel | null = null
let source: EventSource | null = null
let leading = false
let up = false
const listeners = new Map<string, Set<(message: Message) => void>>()
const owners = new Set<(message: Message) => void>()
const wanted = new Map<string, { boards: string[]; own: boolean; until: number }>()

/** Listens for a board until the answer is called; says at once whether the stream stands. */
export function watch(boardId: string, hear: (message: Message) => void): () => void {
  start()
  const hearers = listeners.get(boardId) ?? new Set()
  hearers.add(hear)
  listeners.set(boardId, hearers)
  say()
  hear({ kind: 'stream', up })
  return () => {
    hearers.delete(hear)
    if (hearers.size === 0) listeners.delete(boardId)
    say()
  }
}

/** Listens for the person's own notifications until the answer is called. */
export function watchNotifications(hear: (message: Message) => void): () => void {
  start()
  owners.add(hear)
  say()
  return () => {
    owners.delete(hear)
    say()
  }
}

function start(): void {
  if (started) return
  started = true
  if ('BroadcastChannel' in globalThis && navigator.locks) {
    channel = new BroadcastChannel(channelName)
    channel.onmessage = (event: MessageEvent<Talk>) => heard(event.data)
    void navigator.locks.request(channelName, () => {
      leading = true
      channel?.postMessage({ kind: 'who' } satisfies Talk)
      say() // the channel brings a question to the other tabs alone
      return new Promise(() => undefined) // held as long as the tab lives
    })
  } else {
    leading = true
  }
  setInterval(say, 20_000)
  addEventListener('pagehide', () =>
    channel?.postMessage({ kind: 'want', tab: clientId, boards: [], own: false } satisfies Talk),
  )
}

/** Tells the leader what this tab looks at. */
function say(): void {
  const talk: Talk = { kind: 'want', tab: clientId, boards: [...listeners.keys()], own: owners.size > 0 }
  channel?.postMessage(talk)
  heard(talk)
}

function heard(talk: Talk): void {
  switch (talk.kind) {
    case 'want':
      if (!leading) return
      wanted.set(talk.tab, { boards: talk.boards, own: talk.own, until: Date.now() + wantFor })
      reopenSoon()
      return
    case 'who':
      say()
      return
    case 'stream':
      up = talk.up
      break
  }
  deliver(talk)
}

function deliver(message: Message): void {
  if (message.kind === 'notifications') {
    for (const hear of owners) hear(message)
    return
  }
  for (const [boardId, hearers] of listeners) {
    if (message.kind === 'change' && message.change.boardId !== boardId) continue
    if ((message.kind === 'presence' || message.kind === 'gone') && message.boardId !== boardId) continue
    for (const hear of hearers) hear(message)
  }
}

/** From the leader to every tab, its own too. */
function tell(message: Message): void {
  channel?.postMessage(message)
  heard(message)
}

let soon: ReturnType<typeof setTimeout> | undefined

function reopenSoon(): void {
  clearTimeout(soon)
  soon = setTimeout(reopen, 30)
}

let open: string | null = null
/** How often in a row the stream was refused: a server that stops, or none that is there. */
let refusals = 0

function reopen(): void {
  if (!leading) return
  const now = Date.now()
  for (const [tab, want] of wanted) if (want.until < now || (want.boards.length === 0 && !want.own)) wanted.delete(tab)
  const boards = wanted.size > 0 ? [...new Set([...wanted.values()].flatMap((w) => w.boards))].sort().join(',') : null
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
    refusals = 0
    tell({ kind: 'stream', up: true })
    tell({ kind: 'hello', boards: versions })
  })
  on<Change>('change', (change) => tell({ kind: 'change', change }))
  on<{ boardId: string; people: Person[] }>('presence', (p) => tell({ kind: 'presence', ...p }))
  on<{ boardId: string }>('gone', ({ boardId }) => tell({ kind: 'gone', boardId }))
  on<{ unread: number; newest: string }>('notifications', (n) => tell({ kind: 'notifications', ...n }))
  stream.onerror = () => {
    tell({ kind: 'stream', up: false })
    // A refusal ends an EventSource; a lost connection it mends itself.
    if (stream.readyState !== EventSource.CLOSED || source !== stream) return
    // It may be the session that has ended: then the stream waits for the next sign-in.
    setTimeout(
      () =>
        void signedInAgain()
          .catch(() => false)
          .then(reopen),
      Math.min(1000 * 2 ** refusals++, 15_000) * (0.75 + Math.random() / 2),
    )
  }
}
