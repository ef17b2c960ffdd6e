import { expect, test } from 'vitest'
import { boardsToReceive } from './live'

test('the stream receives at most 50 boards, and those of tabs with few boards first', () => {
  const tab = (prefix: string, n: number) => ({ boards: Array.from({ length: n }, (_, i) => `${prefix}${i}`) })
  expect(boardsToReceive([tab('a', 2), tab('b', 1), tab('a', 3)])).toEqual(['a0', 'a1', 'a2', 'b0'])
  const boards = boardsToReceive([tab('a', 20), tab('b', 20), tab('c', 20), tab('open', 1)])
  expect(boards).toHaveLength(50)
  expect(boards).toContain('open0')
  expect(boards.filter((b) => b.startsWith('c'))).toHaveLength(9)
})
