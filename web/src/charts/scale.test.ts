import { expect, test } from 'vitest'
import { durationText, ticks } from './scale'

test.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [10, [0, 5, 10]],
  [97, [0, 50, 100]],
  [100, [0, 50, 100]],
  [4180, [0, 2000, 4000, 6000]],
])('the ticks up to %i are %j', (max, expected) => expect(ticks(max)).toEqual(expected))

test('ticks returns at most six integers that reach the maximum', () => {
  for (let max = 0; max < 100_000; max = max * 1.3 + 1) {
    const values = ticks(Math.floor(max))
    expect(values.length).toBeLessThanOrEqual(6)
    expect(values.at(-1)).toBeGreaterThanOrEqual(Math.floor(max))
    expect(values.every(Number.isInteger)).toBe(true)
  }
})

test.each([
  [0, '< 1 min'],
  [59, '< 1 min'],
  [90, '2 min'],
  [3600, '1 hour'],
  [23_400, '6.5 hours'],
  [172_800, '2 days'],
  [276_480, '3.2 days'],
  [86_400 * 45, '45 days'],
])('durationText(%i) returns "%s"', (seconds, text) => expect(durationText(seconds)).toBe(text))
