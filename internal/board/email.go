package board

// EmailKind is the kind of an email.
type EmailKind string

// The kinds of emails.
const (
	EmailInvitation      EmailKind = "invitation"
	EmailWebhookDisabled EmailKind = "webhook_off" // to the owner, when the service switched a webhook off
	EmailVerify          EmailKind = "verify"      // to a new address; if the address already has an account,
	EmailAccountExists   EmailKind = "exists"      // this one is sent instead
	EmailReset           EmailKind = "reset"       // to reset a forgotten password
	EmailNotify          EmailKind = "notify"      // a notification sent at once
	EmailDigest          EmailKind = "digest"      // the daily summary of notifications

	// Notices about changes to an account, so that its owner notices changes
	// made by others.
	EmailPasswordChanged EmailKind = "password_changed"
	EmailPasskeyAdded    EmailKind = "passkey_added"
	EmailTokenCreated    EmailKind = "token_created"
	EmailAppConnected    EmailKind = "app_connected"
	EmailNewDevice       EmailKind = "new_device"
)

// Email is an email to send now. Its link may hold a secret, so it is never
// stored or logged.
type Email struct {
	ID         string
	Kind       EmailKind
	Attempt    int // 1 for the first
	To         string
	Link       string
	Invitation *InvitationEmail // for EmailInvitation
	Webhook    *WebhookEmail    // for EmailWebhookDisabled

	Notifications *NotificationEmail // for EmailNotify and EmailDigest
	Notice        *AccountNotice     // for notices about an account
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

// InvitationEmail is the content of an invitation email.
type InvitationEmail struct {
	Workspace string
	InvitedBy string // empty if it was not a person
	Role      WorkspaceRole
	ExpiresAt Instant
}

// WebhookEmail is the content of the email about a webhook that was switched
// off.
type WebhookEmail struct {
	Name      string
	Host      string
	Workspace string
	Reason    Off
}

// NotificationEmail is the content of an email about notifications. For a
// confidential board it holds only their number and the board.
type NotificationEmail struct {
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
