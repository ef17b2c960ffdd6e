import { describe, expect, it } from 'vitest'
import { difference, fieldText } from './difference'
import { askedOf, filterOf, isFiltered, searchOf } from './filter'
import { didText, operationGroups } from './words'

describe('filters', () => {
  const filter = filterOf(new URLSearchParams('actor=usr_1&from=2026-03-01&nonsense=1'))
  it('go to the address and back', () => {
    expect(searchOf(filter)).toBe('?actor=usr_1&from=2026-03-01')
    expect(filterOf(new URLSearchParams(searchOf(filter)))).toEqual(filter)
    expect(searchOf(filterOf(new URLSearchParams()))).toBe('')
  })
  it('are named as the server names them, without the empty ones', () => {
    expect(askedOf({ ...filter, board: 'brd_1', token: 'tok_1' })).toEqual({
      actor: 'usr_1',
      boardId: 'brd_1',
      tokenId: 'tok_1',
      from: '2026-03-01',
    })
    expect(isFiltered(filter)).toBe(true)
    expect(isFiltered(filterOf(new URLSearchParams()))).toBe(false)
  })
})

describe('a difference', () => {
  const names = new Map([['usr_1', 'Ada']])
  it('is told in words', () => {
    const changes = {
      title: { from: 'One', to: 'Two' },
      done: { from: false, to: true },
      assignees: { from: [], to: ['usr_1', 'usr_2'] },
      dueAt: { from: null, to: '2026-11-21T14:02:10.000Z' },
      events: { from: ['card.created'], to: ['card.created', 'card.moved'] },
      features: { from: null, to: { wipLimits: true, calendar: false } },
    }
    const lines = difference(changes, names, 'UTC').map((l) => [fieldText(l.field), l.from, l.to])
    expect(lines[0]).toEqual(['Title', 'One', 'Two'])
    expect(lines[1]).toEqual(['Done', 'no', 'yes'])
    expect(lines[2]).toEqual(['People', null, 'Ada, usr_2'])
    expect(lines[3]?.[2]).toContain('21 Nov')
    expect(lines[4]).toEqual(['Events', 'Card created', 'Card created and card moved'])
    expect(lines[5]).toEqual(['Features', null, 'Wip limits: yes\nCalendar: no'])
  })
  it('leaves out what says nothing', () => {
    const changes = { position: { from: null, to: 'top' }, text: { from: '', to: null }, name: { from: 'A', to: null } }
    expect(difference(changes, names, 'UTC')).toEqual([{ field: 'name', from: 'A', to: null }])
  })
})

it('has words for operations, and makes some of those it does not know', () => {
  expect(didText('move_card')).toBe('moved the card')
  expect(didText('fly_kite')).toBe('did fly kite')
  const all = operationGroups.flatMap((g) => g.operations)
  expect(new Set(all).size).toBe(all.length)
})
