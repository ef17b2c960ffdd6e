import { describe, expect, it } from 'vitest'
import { roleLockReason, assignableRoles, removalLockReason } from './roles'
import { countsText } from './upload'

const owner = { role: 'owner' as const }
const admin = { role: 'admin' as const }
const member = { role: 'member' as const }

describe('roleLockReason, removalLockReason and assignableRoles', () => {
  it('protect the last owner', () => {
    expect(roleLockReason(owner, 'owner', [owner, admin])).toContain('only owner')
    expect(roleLockReason(owner, 'owner', [owner, owner])).toBeNull()
    expect(removalLockReason(owner, true, 'owner', [owner, member])).toContain('only owner')
  })
  it('let only owners change owners', () => {
    expect(roleLockReason(owner, 'admin', [owner, owner])).toBe('Only owners can change the role of an owner.')
    expect(assignableRoles('admin')).not.toContain('owner')
    expect(assignableRoles('member')).toEqual([])
  })
  it('let everyone leave except the last owner', () => {
    expect(removalLockReason(member, true, 'member', [owner, member])).toBeNull()
    expect(removalLockReason(member, false, 'member', [owner, member])).not.toBeNull()
  })
})

it('countsText describes an imported board', () => {
  const none = { id: 'b', name: 'B', lists: 0, cards: 0, labels: 0, checklists: 0, items: 0, comments: 0 }
  expect(countsText({ ...none, statusUpdates: 0 })).toBe('empty')
  expect(countsText({ ...none, lists: 1, cards: 1200, statusUpdates: 2 })).toBe(
    '1 list, 1,200 cards and 2 status updates',
  )
})
