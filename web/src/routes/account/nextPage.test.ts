import { describe, expect, it } from 'vitest'
import { isInternal } from './nextPage'

describe('isInternal', () => {
  it.each(['/', '/boards/brd_1', '/oauth/authorize?redirect_uri=https%3A%2F%2Fx.example', '/search?q=a#b'])(
    'accepts %j',
    (to) => expect(isInternal(to)).toBe(true),
  )
  it.each([
    '',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/a\\..\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '\t//evil.example',
  ])('rejects %j', (to) => expect(isInternal(to)).toBe(false))
})
