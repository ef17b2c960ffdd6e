import { expect, test } from 'vitest'
import { bytes } from './plans'

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1000, '1 kB'],
  [249_999_999, '249.9 MB'],
  [25e9, '25 GB'],
])('bytes(%d) returns "%s"', (n, text) => expect(bytes(n)).toBe(text))
