import { expect, test } from 'vitest'
import { inOrder } from './naturalOrder'

test('labels are in natural order: 2 before 10, and case is ignored', () => {
  const names = (all: string[]) => inOrder(all.map((name) => ({ name }))).map((one) => one.name)
  expect(names(['100', '10', '1', '2'])).toEqual(['1', '2', '10', '100'])
  expect(names(['sprint 10', 'Sprint 9', 'bug', 'Änderung', 'Zoo'])).toEqual([
    'Änderung',
    'bug',
    'Sprint 9',
    'sprint 10',
    'Zoo',
  ])
})
