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
	ID      string // id of the queued email; all attempts have the same Message-ID
	To      string
	Subject string
	Text    string
	HTML    string
	secret  string // part of a link that must not be logged

	unsubscribe string // URL for one-click unsubscribing (RFC 8058); empty if there is none
}

// Compose returns the message for a queued email. It returns an error if the kind is
// unknown or the data for the kind is missing.
func Compose(e board.Email) (Message, error) {
	var (
		m   Message
		err error
	)
	switch {
	case e.Kind == board.EmailInvitation && e.Invitation != nil:
		m, err = composeInvitation(e.Link, *e.Invitation)
	case e.Kind == board.EmailWebhookDisabled && e.Webhook != nil:
		m, err = composeWebhookDisabled(e.Link, *e.Webhook)
	case e.Kind == board.EmailVerify:
		m, err = composeVerification(e.Link)
	case e.Kind == board.EmailAccountExists:
		m, err = composeAccountExists(e.Link)
	case e.Kind == board.EmailReset:
		m, err = composePasswordReset(e.Link)
	case e.Notice != nil && isAccountNotice(e.Kind):
		m, err = composeAccountNotice(e.Kind, e.Link, *e.Notice)
	case hasNotifications(e):
		m, err = composeNotifications(e.Kind, e.Link, *e.Notifications)
	default:
		return m, fmt.Errorf("compose email: unknown kind %q, or its data is missing", e.Kind)
	}
	m.ID, m.To = e.ID, e.To
	m.secret = e.Link
	if _, secret, ok := strings.Cut(e.Link, "#"); ok {
		m.secret = secret
	} else if _, token, ok := strings.Cut(m.unsubscribe, "token="); ok {
		m.secret = token
	}
	return m, err
}

// isAccountNotice reports whether an email of the kind is about the security of an account.
func isAccountNotice(k board.EmailKind) bool {
	switch k {
	case board.EmailPasswordChanged, board.EmailPasskeyAdded, board.EmailTokenCreated, board.EmailAppConnected, board.EmailNewDevice:
		return true
	}
	return false
}

func hasNotifications(e board.Email) bool {
	return (e.Kind == board.EmailNotify || e.Kind == board.EmailDigest) &&
		e.Notifications != nil && len(e.Notifications.Items) > 0
}

// composeInvitation composes an invitation to a workspace.
func composeInvitation(link string, e board.InvitationEmail) (Message, error) {
	by, workspace := line(e.InvitedBy), line(e.Workspace)
	if by == "" {
		by = "Someone"
	}
	until := e.ExpiresAt.Time().Format("2 January 2006")
	role := map[board.WorkspaceRole]string{
		board.WorkspaceOwner: "an owner", board.WorkspaceAdmin: "an admin",
		board.WorkspaceMember: "a member", board.WorkspaceGuest: "a guest",
	}[e.Role]
	return render("You have been invited to a workspace on Cardwall", content{
		Paragraphs: []string{
			fmt.Sprintf("%s invited you to join the workspace %s as %s.", by, workspace, role),
		},
		Button: "Accept invitation", Link: link,
		Footer: fmt.Sprintf("This invitation expires on %s and can be used once. Don't forward this email: "+
			"anyone with the link can accept the invitation. "+
			"If you weren't expecting it, you can ignore this email.", until),
	})
}

// composeVerification composes an email that asks a person to confirm the email
// address with which they signed up.
func composeVerification(link string) (Message, error) {
	return render("Confirm your email address", content{
		Paragraphs: []string{
			"Someone, probably you, signed up for Cardwall with this email address.",
			"Confirm your email address to finish creating your account.",
		},
		Button: "Confirm email address", Link: link,
		Footer: "This link expires in 24 hours. If you didn't sign up, you can ignore this email. " +
			"No account will be created.",
	})
}

// composeAccountExists composes an email that tells the owner of an account that
// someone tried to sign up with the same email address.
func composeAccountExists(link string) (Message, error) {
	return render("You already have an account", content{
		Paragraphs: []string{
			"Someone, probably you, tried to sign up for Cardwall with this email address. " +
				"You already have an account.",
			"Forgot your password? Reset it on the sign-in page.",
		},
		Button: "Sign in", Link: link,
		Footer: "If this wasn't you, you can ignore this email. Your account has not changed.",
	})
}

// composePasswordReset composes an email with a link to choose a new password.
func composePasswordReset(link string) (Message, error) {
	return render("Reset your password", content{
		Paragraphs: []string{
			"We received a request to reset the password of your Cardwall account.",
			"Choosing a new password signs you out on all devices.",
		},
		Button: "Reset password", Link: link,
		Footer: "This link expires in one hour and can be used once. Don't forward this email. " +
			"If you didn't request a new password, you can ignore this email. Your password has not changed.",
	})
}

// composeWebhookDisabled composes an email that tells the owner of a webhook why
// it was disabled.
func composeWebhookDisabled(link string, e board.WebhookEmail) (Message, error) {
	name, host := line(e.Name), line(e.Host)
	if name == "" {
		name = "to " + host
	}
	why, next, button := "", "", "Open the delivery log"
	switch e.Reason {
	case board.OffGone:
		why = fmt.Sprintf("%s responded with 410 Gone, which means that it accepts no more deliveries", host)
		next = "If this was a mistake, enable the webhook again on its page. Otherwise you can delete it there."
	case board.OffOwner:
		why, button = "you can no longer manage its board or workspace", "Open Cardwall"
		next = "Anyone who can manage the webhook can enable it again. That person then becomes its owner."
	case board.OffPlan:
		why = "its board or workspace was restored from the trash, and your plan does not allow another webhook"
		next = "Delete a webhook that you no longer need, then enable this one again."
	default:
		why = fmt.Sprintf("%d consecutive deliveries to %s failed", board.MaxWebhookFailures, host)
		next = "The delivery log shows how the receiver responded. When the receiver works again, " +
			"enable the webhook again on its page. You can also redeliver failed deliveries."
	}
	return render("A webhook was disabled", content{
		Paragraphs: []string{
			fmt.Sprintf("The webhook %s in the workspace %s was disabled because %s.", name, line(e.Workspace), why),
			next,
		},
		Button: button, Link: link,
		Footer: "You received this email because you own the webhook.",
	})
}

// content is what an email says. The text and the HTML version are rendered from it.
type content struct {
	Paragraphs  []string
	Entries     []entry
	Button      string // label of the button
	Link        string // URL that the button opens
	Footer      string
	Unsubscribe string // URL of the link at the end that unsubscribes; empty if there is none
	Settings    string // URL of the notification settings; used only with Unsubscribe
}

// htmlTemplate is the template of the HTML version. It loads no images or other resources.
const htmlTemplate = `<!doctype html>
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
<p style="font-size:14px;color:#57606a">{{.Footer}}
{{- if .Unsubscribe}} <a href="{{.Settings}}" style="color:#57606a">Change your settings</a>
{{- " or "}}<a href="{{.Unsubscribe}}" style="color:#57606a">unsubscribe</a>.{{end}}</p>
</body></html>
`

// render returns a message with the text and the HTML version of the content.
// The subject must not contain text that a person typed. Otherwise, for example, the
// name of a workspace could deceive the recipient.
func render(subject string, c content) (Message, error) {
	t, err := template.New("email").Parse(htmlTemplate)
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
		c.Footer += "\nChange your settings: " + c.Settings + "\nUnsubscribe: " + c.Unsubscribe
	}
	text := strings.Join(parts, "\n\n") + "\n\n" + c.Button + ":\n" + c.Link + "\n\n" + c.Footer + "\n"
	return Message{Subject: subject, Text: text, HTML: b.String()}, nil
}

// maxTextLine is the length in bytes to which wrap breaks lines. A line of an email has at
// most 998 bytes (RFC 5322, 2.1.1).
const maxTextLine = 900

// wrap returns text with line ends as in an email, and with long lines broken at spaces.
func wrap(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for len(line) > maxTextLine {
			at := strings.LastIndexByte(line[:maxTextLine], ' ')
			if at < 0 {
				break
			}
			b.WriteString(line[:at] + "\r\n")
			line = line[at+1:]
		}
		b.WriteString(strings.TrimSuffix(line, "\n") + "\r\n")
	}
	return b.String()
}

// maxLine is the maximum number of characters that oneLine returns.
const maxLine = 120

// line makes text from a person safe for an email. It returns one line, in which mail
// programs do not turn addresses or domains into links. Otherwise the text could abuse
// the trust that recipients place in the links in our emails.
func line(s string) string { return breakLinks(oneLine(s)) }

// breakLinks inserts a zero-width space (U+200B) after each separator in an
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

// oneLine returns untrusted text as one line of at most maxLine characters. It replaces
// each run of whitespace, control and formatting characters with one space, because
// formatting characters could change the direction of the text.
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

// redact replaces the secret and the recipient in untrusted text, such as the reply of
// a mail server that quotes the rejected message. It returns one line.
func (m Message) redact(text string) string {
	if m.secret != "" {
		text = strings.ReplaceAll(text, m.secret, "…")
	}
	if m.To != "" {
		text = strings.ReplaceAll(text, m.To, "…")
	}
	return oneLine(text)
}
