import { flushSync } from 'svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clientId } from '../api/client'
import type { Message } from '../state/live'
import { newestFirst, reloadOnChanges } from './reloadOnChanges.svelte'

const listeners = new Map<string, (message: Message) => void>()

vi.mock('../state/live', () => ({
  watch(id: string, listener: (message: Message) => void) {
    listeners.set(id, listener)
    return () => listeners.delete(id)
  },
}))

let boards = $state.raw<string[]>([])
let busy = false
let reloads: string[][] = []
let stop = () => {}

function start(ids: string[], own = false): void {
  boards = ids
  stop = $effect.root(() =>
    reloadOnChanges(() => boards, {
      delay: 400,
      own,
      reload: (ids) => reloads.push([...ids].sort()),
      isBusy: () => busy,
    }),
  )
  flushSync()
}

const send = (message: Message) => listeners.forEach((listener) => listener(message))
const hello = (versions: Record<string, number>) => send({ kind: 'hello', boards: versions })
function change(
  boardId: string,
  boardVersion: number,
  { client = 'other', cardId = 'c1' as string | null } = {},
): void {
  listeners.get(boardId)?.({ kind: 'change', change: { boardId, boardVersion, client, cardId } } as Message)
}

beforeEach(() => {
  vi.useFakeTimers()
  busy = false
  reloads = []
})
afterEach(() => {
  stop()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('changes by other clients cause one reload, even if they never pause', () => {
  start(['a', 'b'])
  for (let n = 1; n <= 10; n++) {
    change(n % 2 ? 'a' : 'b', n)
    vi.advanceTimersByTime(100)
  }
  expect(reloads).toEqual([[], []])
})

test('a reload names the boards of which more than cards has changed', () => {
  start(['a', 'b', 'c'])
  change('a', 1)
  change('b', 1, { cardId: null })
  listeners.get('c')?.({ kind: 'gone', boardId: 'c' })
  vi.advanceTimersByTime(400)
  expect(reloads).toEqual([['b', 'c']])
})

test('changes by this tab cause a reload only on demand', () => {
  start(['a'])
  change('a', 1, { client: clientId })
  vi.advanceTimersByTime(400)
  expect(reloads).toEqual([])
  stop()
  start(['a'], true)
  change('a', 2, { client: clientId })
  vi.advanceTimersByTime(400)
  expect(reloads).toEqual([[]])
})

test('boards that changed while the stream was down cause a reload', () => {
  start(['a', 'b'])
  hello({ a: 3, b: 3 })
  change('a', 4, { client: clientId })
  send({ kind: 'stream', up: false })
  hello({ a: 4, b: 3 }) // nothing has changed
  vi.advanceTimersByTime(400)
  expect(reloads).toEqual([])
  hello({ a: 4, b: 5 })
  vi.advanceTimersByTime(400)
  expect(reloads).toEqual([['b']])
})

test('a busy or hidden page reloads later', () => {
  start(['a'])
  busy = true
  change('a', 1, { cardId: null })
  vi.advanceTimersByTime(1000)
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  busy = false
  vi.advanceTimersByTime(1000)
  expect(reloads).toEqual([])
  hidden.mockReturnValue(false)
  vi.advanceTimersByTime(400)
  expect(reloads).toEqual([['a']])
})

test('a reload that is due survives other boards, but not the page', () => {
  start(['a'])
  change('a', 1)
  boards = ['a', 'b']
  flushSync()
  vi.advanceTimersByTime(400)
  expect(reloads).toEqual([[]])
  change('b', 1)
  stop()
  vi.advanceTimersByTime(400)
  expect(reloads).toHaveLength(1)
  expect(listeners.size).toBe(0)
})

test('a page with more boards than it watches reloads when it becomes visible', () => {
  start(newestFirst(Array.from({ length: 21 }, (_, n) => ({ id: `b${n}`, updatedAt: `2026-01-${10 + n}` }))))
  expect(listeners.size).toBe(20)
  expect(listeners.has('b0')).toBe(false)
  document.dispatchEvent(new Event('visibilitychange'))
  vi.advanceTimersByTime(400)
  expect(reloads).toEqual([[]])
})
