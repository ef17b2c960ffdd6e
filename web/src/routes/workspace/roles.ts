// Who may be what in a workspace, as the server decides it.
import type { WorkspaceRole } from '../../api/contract'
import type { Member } from '../../api/types'

export const roleWords: Record<WorkspaceRole, { label: string; a: string; text: string }> = {
  owner: { label: 'Owner', a: 'an owner', text: 'Full access, including plan and owners.' },
  admin: { label: 'Admin', a: 'an admin', text: 'People, invitations, settings and webhooks.' },
  member: { label: 'Member', a: 'a member', text: 'Can create boards and edit everything shared with the workspace.' },
  guest: { label: 'Guest', a: 'a guest', text: 'Only boards that are shared with them.' },
}

export const roles = Object.keys(roleWords) as WorkspaceRole[]

export const managesMembers = (role: WorkspaceRole | undefined) => role === 'owner' || role === 'admin'

/** The roles that somebody can give; only owners make owners. */
export function givable(mine: WorkspaceRole): WorkspaceRole[] {
  return mine === 'owner' ? roles : mine === 'admin' ? roles.filter((r) => r !== 'owner') : []
}

/** Why a member's role cannot be changed by somebody; null when it can. */
export function fixed(
  member: Pick<Member, 'role'>,
  mine: WorkspaceRole,
  all: readonly Pick<Member, 'role'>[],
): string | null {
  if (!managesMembers(mine)) return 'Owners and admins change roles.'
  if (member.role !== 'owner') return null
  if (mine !== 'owner') return 'Only owners change owners.'
  return all.filter((m) => m.role === 'owner').length === 1
    ? 'You are the only owner. Make someone else an owner before you leave.'
    : null
}

/** Why a member cannot be taken out, or leave; null when it can be. */
export function stays(
  member: Pick<Member, 'role'>,
  self: boolean,
  mine: WorkspaceRole,
  all: readonly Pick<Member, 'role'>[],
): string | null {
  if (self && member.role !== 'owner') return null
  return fixed(member, mine, all)
}
