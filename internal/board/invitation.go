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

// The states of an invitation. A pending invitation becomes expired with time,
// and pending again when it is renewed. The other two states are final.
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
	WorkspaceID string           `json:"workspaceId" doc:"The workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Email       string           `json:"email" doc:"The email address to invite." example:"grace@example.com"`
	Role        WorkspaceRole    `json:"role" enum:"owner,admin,member,guest" doc:"The person's role in the workspace." example:"member"`
	InvitedBy   *UserRef         `json:"invitedBy" doc:"The person who created or last renewed the invitation; null if it was not a person."`
	CreatedAt   Instant          `json:"createdAt" format:"date-time" doc:"When the email address was first invited." example:"2026-03-01T09:00:00.000Z"`
	ExpiresAt   Instant          `json:"expiresAt" format:"date-time" doc:"When the invitation expires." example:"2026-03-15T09:00:00.000Z"`
	Status      InvitationStatus `json:"status" enum:"pending,expired,accepted,withdrawn" doc:"Whether the invitation can still be accepted; pending means it can. Inviting the same address again renews an expired invitation." example:"pending"`

	AcceptedBy string `json:"-"` // the user who accepted it; empty for none
}

// StateOf returns an invitation's status at a time.
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

// CanGive reports whether a person with role r may give others the role other.
// Owners can give all roles, admins all but owner.
func (r WorkspaceRole) CanGive(other WorkspaceRole) bool {
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
