import { describe, expect, it } from 'vitest'
import { inside } from './nextPage'

describe('inside', () => {
  it.each(['/', '/boards/brd_1', '/oauth/authorize?redirect_uri=https%3A%2F%2Fx.example', '/search?q=a#b'])(
    'takes %j',
    (to) => expect(inside(to)).toBe(true),
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
  ])('refuses %j', (to) => expect(inside(to)).toBe(false))
})
