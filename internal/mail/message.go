package mail

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode"

	"cardwall/internal/board"
)

// Message is an email that is ready to send.
type Message struct {
	ID      string // id of the queued email; each attempt has the same Message-ID
	To      string
	Subject string
	Text    string
	HTML    string
	secret  string // part of the link that must not be logged

	unsubscribe string // address of the one-click unsubscribe; empty if there is none
}

// Compose returns the message of a queued email.
func Compose(l board.Email) (Message, error) {
	var (
		m   Message
		err error
	)
	switch {
	case l.Kind == board.EmailInvitation && l.Invitation != nil:
		m, err = composeInvitation(l.Link, *l.Invitation)
	case l.Kind == board.EmailWebhookDisabled && l.Webhook != nil:
		m, err = composeWebhookDisabled(l.Link, *l.Webhook)
	case l.Kind == board.EmailVerify:
		m, err = composeVerification(l.Link)
	case l.Kind == board.EmailAccountExists:
		m, err = composeAccountExists(l.Link)
	case l.Kind == board.EmailReset:
		m, err = composePasswordReset(l.Link)
	case l.Notice != nil:
		m, err = composeAccountNotice(l.Kind, l.Link, *l.Notice)
	case hasNotifications(l):
		m, err = composeNotifications(l.Kind, l.Link, *l.Notifications)
	default:
		return m, fmt.Errorf("compose email: unknown kind %q, or its data is missing", l.Kind)
	}
	m.ID, m.To = l.ID, l.To
	m.secret = l.Link
	if _, secret, ok := strings.Cut(l.Link, "#"); ok {
		m.secret = secret
	} else if _, token, ok := strings.Cut(m.unsubscribe, "token="); ok {
		m.secret = token
	}
	return m, err
}

func hasNotifications(l board.Email) bool {
	return (l.Kind == board.EmailNotify || l.Kind == board.EmailDigest) &&
		l.Notifications != nil && len(l.Notifications.Items) > 0
}

// composeInvitation invites a person to a workspace.
func composeInvitation(link string, l board.InvitationEmail) (Message, error) {
	by, workspace := line(l.InvitedBy), line(l.Workspace)
	if by == "" {
		by = "Someone"
	}
	until := l.ExpiresAt.Time().Format("2 January 2006")
	role := map[board.WorkspaceRole]string{
		board.WorkspaceOwner: "an owner", board.WorkspaceAdmin: "an admin",
		board.WorkspaceMember: "a member", board.WorkspaceGuest: "a guest",
	}[l.Role]
	return render("You have been invited to a workspace on Cardwall", content{
		Paragraphs: []string{
			fmt.Sprintf("%s invited you to join the workspace %s as %s.", by, workspace, role),
		},
		Button: "Accept invitation", Link: link,
		Small: fmt.Sprintf("This invitation expires on %s and can be used once. Don't forward this email: "+
			"anyone with the link can accept the invitation. "+
			"If you weren't expecting it, you can ignore this email.", until),
	})
}

// composeVerification asks a person to confirm the email address of a sign-up.
func composeVerification(link string) (Message, error) {
	return render("Confirm your email address", content{
		Paragraphs: []string{
			"Someone, probably you, signed up for Cardwall with this email address.",
			"Confirm your email address to finish creating your account.",
		},
		Button: "Confirm email address", Link: link,
		Small: "This link expires in 24 hours. If you didn't sign up, you can ignore this email. " +
			"No account will be created.",
	})
}

// composeAccountExists tells the owner of an account that someone tried to sign
// up with its email address.
func composeAccountExists(link string) (Message, error) {
	return render("You already have an account", content{
		Paragraphs: []string{
			"Someone, probably you, tried to sign up for Cardwall with this email address. " +
				"You already have an account.",
			"Forgot your password? Reset it on the sign-in page.",
		},
		Button: "Sign in", Link: link,
		Small: "If this wasn't you, you can ignore this email. Your account has not changed.",
	})
}

// composePasswordReset sends a link to choose a new password.
func composePasswordReset(link string) (Message, error) {
	return render("Reset your password", content{
		Paragraphs: []string{
			"We received a request to reset the password of your Cardwall account.",
			"Choosing a new password signs you out on all devices.",
		},
		Button: "Reset password", Link: link,
		Small: "This link expires in one hour and can be used once. Don't forward this email. " +
			"If you didn't request a new password, you can ignore this email. Your password has not changed.",
	})
}

// composeWebhookDisabled tells the owner of a webhook that it was disabled, and
// why.
func composeWebhookDisabled(link string, l board.WebhookEmail) (Message, error) {
	name, host := line(l.Name), line(l.Host)
	if name == "" {
		name = "to " + host
	}
	why, next, button := "", "", "Open the delivery log"
	switch l.Reason {
	case board.OffGone:
		why = fmt.Sprintf("%s responded with 410 Gone, which means that it accepts no more deliveries", host)
		next = "If this was a mistake, enable the webhook again on its page. Otherwise you can delete it there."
	case board.OffOwner:
		why, button = "you can no longer manage its board or workspace", "Open Cardwall"
		next = "Anyone who can manage the webhook can enable it again and becomes its owner."
	case board.OffPlan:
		why = "its board or workspace was restored from the trash, and your plan does not allow another webhook"
		next = "Delete a webhook that you no longer need, then enable this one again."
	default:
		why = fmt.Sprintf("%d consecutive deliveries to %s failed", board.FailuresToSwitchOff, host)
		next = "The delivery log shows how the receiver responded. When the receiver works again, " +
			"enable the webhook there. You can also redeliver failed deliveries."
	}
	return render("A webhook was disabled", content{
		Paragraphs: []string{
			fmt.Sprintf("The webhook %s in the workspace %s was disabled because %s.", name, line(l.Workspace), why),
			next,
		},
		Button: button, Link: link,
		Small: "You received this email because you own the webhook.",
	})
}

// content is the content of an email, for the text and the HTML version.
type content struct {
	Paragraphs  []string
	Entries     []entry
	Button      string
	Link        string
	Small       string
	Unsubscribe string // links at the end; empty if there are none
	Settings    string
}

// page is the HTML version. It contains no images and loads no other resources.
const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Button}}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 sans-serif;color:#1f2328;background:#ffffff">
{{range .Paragraphs}}<p>{{.}}</p>
{{end}}{{range .Entries}}<p><a href="{{.Link}}" style="color:#1f5fbf;text-decoration:none"><strong>{{.Headline}}</strong></a>
{{- if .Text}}<br>{{.Text}}{{end}}
{{- if .Place}}<br><span style="font-size:14px;color:#57606a">{{.Place}}</span>{{end}}</p>
{{end}}<p>
{{- ""}}<a href="{{.Link}}"
 style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1f5fbf;color:#ffffff;text-decoration:none">
{{- .Button}}</a></p>
<p style="font-size:14px;color:#57606a">Or copy this link into your browser: {{.Link}}</p>
<p style="font-size:14px;color:#57606a">{{.Small}}
{{- if .Unsubscribe}} <a href="{{.Settings}}" style="color:#57606a">Change your settings</a>
{{- " or "}}<a href="{{.Unsubscribe}}" style="color:#57606a">unsubscribe</a>.{{end}}</p>
</body></html>
`

// render returns a message with the text and the HTML version of the content.
// The subject must not contain text that a person typed: a workspace could
// otherwise be named so that the subject deceives the recipient.
func render(subject string, c content) (Message, error) {
	t, err := template.New("email").Parse(page)
	if err != nil {
		return Message{}, fmt.Errorf("parse email template: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, c); err != nil {
		return Message{}, fmt.Errorf("render email: %w", err)
	}
	parts := c.Paragraphs
	for _, e := range c.Entries {
		lines := []string{e.Headline, e.Text, e.Place, e.Link}
		parts = append(parts, strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n"))
	}
	if c.Unsubscribe != "" {
		c.Small += "\nChange your settings: " + c.Settings + "\nUnsubscribe: " + c.Unsubscribe
	}
	text := strings.Join(parts, "\n\n") + "\n\n" + c.Button + ":\n" + c.Link + "\n\n" + c.Small + "\n"
	return Message{Subject: subject, Text: text, HTML: b.String()}, nil
}

// maxLine is the maximum number of characters of a person's text in an email.
const maxLine = 120

// line makes text that a person typed safe for a sentence of an email. It applies
// oneLine and prevents mail programs from turning an address or a domain in the
// text into a link, because recipients trust the links in our emails.
func line(s string) string { return breakLinks(oneLine(s)) }

// breakLinks inserts a zero-width space (U+200B) after each separator of an
// address or a domain. The text looks the same, but mail programs do not
// recognize a link.
func breakLinks(s string) string {
	runes := []rune(s)
	var b strings.Builder
	for i, r := range runes {
		b.WriteRune(r)
		if strings.ContainsRune(".:/@", r) && i+1 < len(runes) && !unicode.IsSpace(runes[i+1]) {
			b.WriteRune('\u200b')
		}
	}
	return b.String()
}

// oneLine makes untrusted text one line of at most maxLine characters. It removes
// control and formatting characters, which could change the text direction.
func oneLine(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
	})
	runes := []rune(strings.ToValidUTF8(strings.Join(words, " "), "?"))
	if len(runes) > maxLine {
		runes = append(runes[:maxLine-1], '…')
	}
	return string(runes)
}

// redact removes the secret and the recipient from untrusted text, such as the
// reply of a mail server that quotes the rejected message.
func (m Message) redact(text string) string {
	if m.secret != "" {
		text = strings.ReplaceAll(text, m.secret, "…")
	}
	if m.To != "" {
		text = strings.ReplaceAll(text, m.To, "…")
	}
	return oneLine(text)
}
