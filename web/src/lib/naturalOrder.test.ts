import { expect, test } from 'vitest'
import { inOrder } from './naturalOrder'

test('inOrder sorts 2 before 10 and ignores case', () => {
  const sorted = (names: string[]) => inOrder(names.map((name) => ({ name }))).map((item) => item.name)
  expect(sorted(['100', '10', '1', '2'])).toEqual(['1', '2', '10', '100'])
  expect(sorted(['sprint 10', 'Sprint 9', 'bug', 'Änderung', 'Zoo'])).toEqual([
    'Änderung',
    'bug',
    'Sprint 9',
    'sprint 10',
    'Zoo',
  ])
})
