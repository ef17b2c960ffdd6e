// Labels and rules for workspace roles. The server enforces the same rules.
import type { WorkspaceRole } from '../../api/contract'
import type { Member } from '../../api/types'

export const roleLabels: Record<WorkspaceRole, { label: string; withArticle: string; text: string }> = {
  owner: { label: 'Owner', withArticle: 'an owner', text: 'Full access, including the plan and other owners.' },
  admin: { label: 'Admin', withArticle: 'an admin', text: 'Can manage people, invitations, settings and webhooks.' },
  member: {
    label: 'Member',
    withArticle: 'a member',
    text: 'Can create boards and edit everything shared with the workspace.',
  },
  guest: { label: 'Guest', withArticle: 'a guest', text: 'Can see only boards that are shared with them.' },
}

export const roles = Object.keys(roleLabels) as WorkspaceRole[]

/** Reports whether a role can manage members. */
export const managesMembers = (role: WorkspaceRole | undefined) => role === 'owner' || role === 'admin'

/** Returns the roles that a member with a role can assign. Only owners can assign the owner role. */
export function assignableRoles(ownRole: WorkspaceRole): WorkspaceRole[] {
  return ownRole === 'owner' ? roles : ownRole === 'admin' ? roles.filter((r) => r !== 'owner') : []
}

/** Returns why a member's role cannot be changed, or null if it can. */
export function roleLockReason(
  member: Pick<Member, 'role'>,
  ownRole: WorkspaceRole,
  all: readonly Pick<Member, 'role'>[],
): string | null {
  if (!managesMembers(ownRole)) return 'Only owners and admins can change roles.'
  if (member.role !== 'owner') return null
  if (ownRole !== 'owner') return 'Only owners can change the role of an owner.'
  return all.filter((m) => m.role === 'owner').length === 1
    ? 'You’re the only owner. To leave or change your role, first make someone else an owner.'
    : null
}

/** Returns why a member cannot be removed or leave, or null if they can. */
export function removalLockReason(
  member: Pick<Member, 'role'>,
  self: boolean,
  ownRole: WorkspaceRole,
  all: readonly Pick<Member, 'role'>[],
): string | null {
  if (self && member.role !== 'owner') return null
  return roleLockReason(member, ownRole, all)
}
