package board

import (
	"crypto/rand"
	"crypto/sha256"
	"time"
)

// InvitationLifetime is how long an invitation can be accepted.
const InvitationLifetime = 14 * 24 * time.Hour

// MaxInvitations is how many invitations of a workspace can be pending.
const MaxInvitations = 200

// InvitationStatus is what became of an invitation.
type InvitationStatus string

// The states of an invitation. A pending one becomes expired by time alone, and
// pending again when it is renewed; the other two are final.
const (
	InvitationPending   InvitationStatus = "pending"
	InvitationExpired   InvitationStatus = "expired"
	InvitationAccepted  InvitationStatus = "accepted"
	InvitationWithdrawn InvitationStatus = "withdrawn"
)

// Invitation asks the owner of an address into a workspace. Whoever holds the
// link in its letter can accept it; the link is in no record.
type Invitation struct {
	ID          string           `json:"id" doc:"The invitation's id." example:"inv_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string           `json:"workspaceId" doc:"The workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Email       string           `json:"email" doc:"The email address to invite." example:"grace@example.com"`
	Role        WorkspaceRole    `json:"role" enum:"owner,admin,member,guest" doc:"The person's role in the workspace." example:"member"`
	InvitedBy   *UserRef         `json:"invitedBy" doc:"The person who created or last renewed the invitation; null if it was not a person."`
	CreatedAt   Instant          `json:"createdAt" format:"date-time" doc:"When the email address was first invited." example:"2026-03-01T09:00:00.000Z"`
	ExpiresAt   Instant          `json:"expiresAt" format:"date-time" doc:"When the invitation expires." example:"2026-03-15T09:00:00.000Z"`
	Status      InvitationStatus `json:"status" enum:"pending,expired,accepted,withdrawn" doc:"Whether the invitation can still be accepted; pending means it can. Inviting the same address again renews an expired invitation." example:"pending"`

	AcceptedBy string `json:"-"` // who accepted it; empty for nobody
}

// StateOf is an invitation's status from its times.
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

// CanGive tells whether who has the role may make others what other says:
// owners all, admins all but owners.
func (r WorkspaceRole) CanGive(other WorkspaceRole) bool {
	return r.Can(OwnWorkspace) || r.Can(ManageMembers) && other != WorkspaceOwner
}

// NewSecret makes the secret part of a link: 128 bits or more (crypto/rand),
// in letters and digits.
func NewSecret() string { return rand.Text() }

// SecretHash is the fingerprint by which the secret of a link is found.
func SecretHash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
