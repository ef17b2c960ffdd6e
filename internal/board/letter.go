package board

// LetterKind says which letter to write.
type LetterKind string

// The kinds of letters.
const (
	LetterInvitation LetterKind = "invitation"
	LetterWebhookOff LetterKind = "webhook_off" // to the owner, when the service switched it off
	LetterVerify     LetterKind = "verify"      // to a new address, which may turn out to have an account:
	LetterExists     LetterKind = "exists"      // then it is this one
	LetterReset      LetterKind = "reset"       // a way back in without the password
	LetterNotify     LetterKind = "notify"      // what a person wants to be told of at once
	LetterDigest     LetterKind = "digest"      // and once a day

	// What was done with an account, so that its owner notices what they did not do.
	LetterPasswordChanged LetterKind = "password_changed"
	LetterPasskeyAdded    LetterKind = "passkey_added"
	LetterTokenCreated    LetterKind = "token_created"
	LetterAppConnected    LetterKind = "app_connected"
	LetterNewDevice       LetterKind = "new_device"
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

	Notifications *NotificationLetter // of LetterNotify and LetterDigest
	Notice        *AccountNotice      // of what was done with an account
}

// AccountNotice is what an email about an account tells.
type AccountNotice struct {
	At        Instant // 0 for just now
	TimeZone  string  // of the person
	Name      string  // of the passkey, the token or the app; somebody typed it
	Host      string  // of the app; empty for none
	LastFour  string  // of the token
	Address   string  // of the new device
	UserAgent string  // of the new device
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
	Reason    Off
}

// NotificationLetter is what a letter about notifications tells. Of those on a
// confidential board it holds that there are some, and where.
type NotificationLetter struct {
	Items        []NotificationItem // the newest first
	More         int                // how many there are beyond them
	Unsubscribe  string             // the address that ends such letters (RFC 8058)
	SettingsLink string
}

// NotificationItem is one line of such a letter.
type NotificationItem struct {
	Notification
	Link string
}
