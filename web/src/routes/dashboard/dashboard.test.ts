import { expect, test } from 'vitest'
import { partQuery, searchLink, staleQuery, weekQuery } from './links'

test('weekQuery covers Monday to Sunday and includes archived cards', () => {
  expect(weekQuery('created', '2026-03-02')).toBe('created:2026-03-02..2026-03-08 is:open,done,archived')
  expect(weekQuery('completed', '2026-12-28')).toBe('completed:2026-12-28..2027-01-03 is:done,archived')
})

test('partQuery uses an ID, or the name of a label', () => {
  expect(partQuery({ boardId: 'brd_1' })).toBe('is:open board:brd_1')
  expect(partQuery({ boardId: 'brd_1', listId: 'lst_1' })).toBe('is:open list:lst_1')
  expect(partQuery({ userId: 'usr_1' })).toBe('is:open member:usr_1')
  expect(partQuery({ name: 'Big idea' })).toBe('is:open label:"Big idea"')
  expect(partQuery({ name: '' })).toBeNull()
})

test('searchLink contains the query and the workspace', () => {
  expect(searchLink('wsp_1', 'is:open label:"R&D"')).toBe('/search?q=is%3Aopen+label%3A%22R%26D%22&workspace=wsp_1')
  expect(staleQuery('2026-03-15')).toBe('is:open updated:<=2026-03-01 sort:updated')
})
