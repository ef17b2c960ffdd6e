import { expect, test } from 'vitest'
import { foldText } from './foldText'

test('foldText makes variants of a text equal', () => {
  for (const [text, other] of [
    ['Crème', 'CREME'],
    ['Zoe\u0308', 'Zoë'],
    ['Straße', 'STRASSE'],
    ['ＡＰＩ２', 'api2'],
    ['山田　太郎', '山田 太郎'],
    ['한글', '한글'.normalize('NFD')],
  ] as const)
    expect(foldText(text), text).toBe(foldText(other))
})
