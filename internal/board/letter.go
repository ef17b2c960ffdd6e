package board

// LetterKind is the kind of an email.
type LetterKind string

// The kinds of emails.
const (
	LetterInvitation LetterKind = "invitation"
	LetterWebhookOff LetterKind = "webhook_off" // to the owner, when the service switched a webhook off
	LetterVerify     LetterKind = "verify"      // to a new address; if the address already has an account,
	LetterExists     LetterKind = "exists"      // this one is sent instead
	LetterReset      LetterKind = "reset"       // to reset a forgotten password
	LetterNotify     LetterKind = "notify"      // a notification sent at once
	LetterDigest     LetterKind = "digest"      // the daily summary of notifications

	// Notices about changes to an account, so that its owner notices changes
	// made by others.
	LetterPasswordChanged LetterKind = "password_changed"
	LetterPasskeyAdded    LetterKind = "passkey_added"
	LetterTokenCreated    LetterKind = "token_created"
	LetterAppConnected    LetterKind = "app_connected"
	LetterNewDevice       LetterKind = "new_device"
)

// Letter is an email to send now. Its link may hold a secret, so it is never
// stored or logged.
type Letter struct {
	ID         string
	Kind       LetterKind
	Attempt    int // 1 for the first
	To         string
	Link       string
	Invitation *InvitationLetter // for LetterInvitation
	Webhook    *WebhookLetter    // for LetterWebhookOff

	Notifications *NotificationLetter // for LetterNotify and LetterDigest
	Notice        *AccountNotice      // for notices about an account
}

// AccountNotice is the content of a notice about an account.
type AccountNotice struct {
	At        Instant // 0 for now
	TimeZone  string  // the person's
	Name      string  // of the passkey, token or app; entered by a user
	Host      string  // of the app; empty for none
	LastFour  string  // of the token
	Address   string  // of the new device
	UserAgent string  // of the new device
}

// InvitationLetter is the content of an invitation email.
type InvitationLetter struct {
	Workspace string
	InvitedBy string // empty if it was not a person
	Role      WorkspaceRole
	ExpiresAt Instant
}

// WebhookLetter is the content of the email about a webhook that was switched
// off.
type WebhookLetter struct {
	Name      string
	Host      string
	Workspace string
	Reason    Off
}

// NotificationLetter is the content of an email about notifications. For a
// confidential board it holds only their number and the board.
type NotificationLetter struct {
	Items        []NotificationItem // newest first
	More         int                // the number of further notifications
	Unsubscribe  string             // the URL that unsubscribes from these emails (RFC 8058)
	SettingsLink string
}

// NotificationItem is one notification in such an email.
type NotificationItem struct {
	Notification
	Link string
}
