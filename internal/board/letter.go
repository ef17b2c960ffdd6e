package board

// LetterKind says which letter to write.
type LetterKind string

// The kinds of letters.
const (
	LetterInvitation LetterKind = "invitation"
	LetterWebhookOff LetterKind = "webhook_off" // to the owner, after ten failures in a row
	LetterVerify     LetterKind = "verify"      // to a new address, which may turn out to have an account:
	LetterExists     LetterKind = "exists"      // then it is this one
	LetterReset      LetterKind = "reset"       // a way back in without the password
)

// Letter is a letter that is to be sent now, with what its text tells. Its link
// may hold a secret, so a letter is never stored or logged.
type Letter struct {
	ID         string
	Kind       LetterKind
	Attempt    int // 1 for the first
	To         string
	Link       string
	Invitation *InvitationLetter // of LetterInvitation
	Webhook    *WebhookLetter    // of LetterWebhookOff
}

// InvitationLetter is what the letter of an invitation tells.
type InvitationLetter struct {
	Workspace string
	InvitedBy string // empty when that was no person
	Role      WorkspaceRole
	ExpiresAt Instant
}

// WebhookLetter is what the letter about a webhook that was switched off tells.
type WebhookLetter struct {
	Name      string
	Host      string
	Workspace string
}
