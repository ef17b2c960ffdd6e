import { describe, expect, it } from 'vitest'
import { codeText } from './deviceCode'

describe('codeText', () => {
  it.each([
    ['wdjbmjht', 'WDJB-MJHT'],
    [' WDJB - MJHT ', 'WDJB-MJHT'],
    ['wdjb', 'WDJB'],
    ['wdjb-', 'WDJB'],
    ['wdjbm', 'WDJB-M'],
    ['WDJB-MJHT-ZZZZ', 'WDJB-MJHT'],
    ['<b>', 'B'],
    ['', ''],
  ])('formats %j as %j', (typed, code) => expect(codeText(typed)).toBe(code))
})
