package board

import (
	"crypto/rand"
	"crypto/sha256"
	"time"
)

// InvitationLifetime is how long an invitation can be accepted.
const InvitationLifetime = 14 * 24 * time.Hour

// MaxInvitations is the maximum number of pending invitations of a workspace.
const MaxInvitations = 200

// InvitationStatus is the state of an invitation.
type InvitationStatus string

// The states of an invitation. A pending invitation expires after InvitationLifetime,
// and is pending again when it is renewed. The other two states are final.
const (
	InvitationPending   InvitationStatus = "pending"
	InvitationExpired   InvitationStatus = "expired"
	InvitationAccepted  InvitationStatus = "accepted"
	InvitationWithdrawn InvitationStatus = "withdrawn"
)

// Invitation invites the owner of an email address to a workspace. Anyone who
// has the link from its email can accept it. The link is not part of the
// record.
type Invitation struct {
	ID          string           `json:"id" doc:"The invitation's id." example:"inv_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string           `json:"workspaceId" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Email       string           `json:"email" doc:"The invited email address." example:"grace@example.com"`
	Role        WorkspaceRole    `json:"role" enum:"owner,admin,member,guest" doc:"The role that the person gets in the workspace." example:"member"`
	InvitedBy   *UserRef         `json:"invitedBy" doc:"The person who created or last renewed the invitation; null if it was not a person."`
	CreatedAt   Instant          `json:"createdAt" format:"date-time" doc:"When the email address was first invited." example:"2026-03-01T09:00:00.000Z"`
	ExpiresAt   Instant          `json:"expiresAt" format:"date-time" doc:"When the invitation expires." example:"2026-03-15T09:00:00.000Z"`
	Status      InvitationStatus `json:"status" enum:"pending,expired,accepted,withdrawn" doc:"The invitation's status. Only a pending invitation can be accepted. Inviting the same address again renews an expired invitation." example:"pending"`

	AcceptedBy string `json:"-"` // the user who accepted it; empty for none
}

// StateOf returns the status of the invitation at the given time.
func (i Invitation) StateOf(now Instant, accepted, withdrawn bool) InvitationStatus {
	switch {
	case accepted:
		return InvitationAccepted
	case withdrawn:
		return InvitationWithdrawn
	case i.ExpiresAt <= now:
		return InvitationExpired
	}
	return InvitationPending
}

// CanGrant reports whether a person with role r may grant the other role to someone.
// Owners can grant every role. Admins can grant every role except owner.
func (r WorkspaceRole) CanGrant(other WorkspaceRole) bool {
	return r.Can(OwnWorkspace) || r.Can(ManageMembers) && other != WorkspaceOwner
}

// NewSecret returns the secret part of a link: at least 128 random bits, as
// letters and digits.
func NewSecret() string { return rand.Text() }

// SecretHash returns the hash under which the secret of a link is stored.
func SecretHash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
