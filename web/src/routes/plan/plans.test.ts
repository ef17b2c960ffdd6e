import { expect, test } from 'vitest'
import { bytes } from './plans'

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1000, '1 kB'],
  [249_999_999, '249.9 MB'],
  [25e9, '25 GB'],
])('%d bytes are shown as %s', (n, shown) => expect(bytes(n)).toBe(shown))
