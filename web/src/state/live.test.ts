import { expect, test, vi } from 'vitest'
import { boardsToReceive, watch } from './live'

test('the stream receives at most 50 boards, and those of tabs with few boards first', () => {
  const tab = (prefix: string, n: number) => ({ boards: Array.from({ length: n }, (_, i) => `${prefix}${i}`) })
  expect(boardsToReceive([tab('a', 2), tab('b', 1), tab('a', 3)])).toEqual(['a0', 'a1', 'a2', 'b0'])
  const boards = boardsToReceive([tab('a', 20), tab('b', 20), tab('c', 20), tab('open', 1)])
  expect(boards).toHaveLength(50)
  expect(boards).toContain('open0')
  expect(boards.filter((b) => b.startsWith('c'))).toHaveLength(9)
})

test('a new stream reports the state of a board to a tab that has just opened it', async () => {
  vi.useFakeTimers()
  class Channel {
    static current: Channel
    onmessage: (event: { data: unknown }) => void = () => {}
    constructor() {
      Channel.current = this
    }
    postMessage(): void {}
  }
  const streams: string[] = []
  class Stream {
    readyState = 1
    constructor(url: string) {
      streams.push(new URL(url, 'http://localhost').searchParams.get('boards')!)
    }
    addEventListener(): void {}
    close(): void {}
  }
  vi.stubGlobal('BroadcastChannel', Channel)
  vi.stubGlobal('EventSource', Stream)
  vi.stubGlobal('navigator', { locks: { request: (_: string, lead: () => Promise<void>) => lead() } })
  watch('brd_1', () => {})
  await vi.advanceTimersByTimeAsync(50)
  const want = async (tab: string, boards: string[]) => {
    Channel.current.onmessage({ data: { kind: 'want', tab, boards, own: false } })
    await vi.advanceTimersByTimeAsync(50)
  }
  expect(streams).toEqual(['brd_1'])
  await want('other', ['brd_1'])
  expect(streams).toEqual(['brd_1', 'brd_1'])
  await want('other', ['brd_1']) // repeated every 20 seconds
  await want('third', [])
  expect(streams).toHaveLength(2)
  await want('other', ['brd_1', 'brd_2'])
  expect(streams.slice(2)).toEqual(['brd_1,brd_2'])
  vi.unstubAllGlobals()
  vi.useRealTimers()
})
