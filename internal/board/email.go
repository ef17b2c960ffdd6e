package board

// EmailKind is the kind of an email.
type EmailKind string

// The kinds of emails.
const (
	EmailInvitation      EmailKind = "invitation"
	EmailWebhookDisabled EmailKind = "webhook_off" // to a webhook's owner, after the service disabled the webhook
	EmailVerify          EmailKind = "verify"      // to verify the address of a new account
	EmailAccountExists   EmailKind = "exists"      // tells the owner of an account that someone tried to sign up with its address
	EmailReset           EmailKind = "reset"       // to reset a forgotten password
	EmailNotify          EmailKind = "notify"      // new notifications, sent after EmailDelay and quiet hours
	EmailDigest          EmailKind = "digest"      // the daily summary of notifications

	// Security notices. They tell the owner of an account about changes and sign-ins,
	// in case someone else made them.
	EmailPasswordChanged EmailKind = "password_changed"
	EmailPasskeyAdded    EmailKind = "passkey_added"
	EmailTokenCreated    EmailKind = "token_created"
	EmailAppConnected    EmailKind = "app_connected"
	EmailNewDevice       EmailKind = "new_device"
)

// Email is an email to send now. Its link may contain a secret, so an Email must not
// be stored or logged.
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
	At        Instant // when it happened; 0 if not recorded
	TimeZone  string  // the person's time zone
	Name      string  // name of the passkey, token or app; untrusted text
	Host      string  // host of the app; empty for none
	LastFour  string  // last four characters of the token
	Address   string  // IP address of the new device
	UserAgent string  // browser of the new device
}

// InvitationEmail is the content of an invitation email.
type InvitationEmail struct {
	Workspace string
	InvitedBy string // name of the inviter; empty if the inviter is not a person
	Role      WorkspaceRole
	ExpiresAt Instant
}

// WebhookEmail is the content of the email about a disabled webhook.
type WebhookEmail struct {
	Name      string
	Host      string
	Workspace string
	Reason    Off
}

// NotificationEmail is the content of an email about notifications. The message must
// not reveal the content of a Confidential item.
type NotificationEmail struct {
	Items        []NotificationItem // newest first
	More         int                // the number of further notifications
	Unsubscribe  string             // the URL that unsubscribes from these emails (RFC 8058)
	SettingsLink string
}

// NotificationItem is one notification in a NotificationEmail.
type NotificationItem struct {
	Notification
	Link string
}
