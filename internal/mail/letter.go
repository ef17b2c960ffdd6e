package mail

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"

	"cardwall/internal/board"
)

// Message is a letter as it leaves.
type Message struct {
	ID      string // the letter's; makes the same Message-ID at every attempt
	To      string
	Subject string
	Text    string
	HTML    string
	secret  string // must not be logged

	unsubscribe string // the address that ends such letters; empty for what has no end
}

// Write makes the message of a letter.
func Write(l board.Letter) (Message, error) {
	var (
		m   Message
		err error
	)
	switch {
	case l.Kind == board.LetterInvitation && l.Invitation != nil:
		m, err = Invitation(l.Link, *l.Invitation)
	case l.Kind == board.LetterWebhookOff && l.Webhook != nil:
		m, err = WebhookOff(l.Link, *l.Webhook)
	case l.Kind == board.LetterVerify:
		m, err = Verify(l.Link)
	case l.Kind == board.LetterExists:
		m, err = Exists(l.Link)
	case l.Kind == board.LetterReset:
		m, err = Reset(l.Link)
	case l.Notice != nil:
		m, err = AccountNotice(l.Kind, l.Link, *l.Notice)
	case (l.Kind == board.LetterNotify || l.Kind == board.LetterDigest) && l.Notifications != nil && len(l.Notifications.Items) > 0:
		m, err = Notifications(l.Kind, l.Link, *l.Notifications)
	default:
		return m, fmt.Errorf("there is no letter of the kind %q", l.Kind)
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

// Invitation asks somebody into a workspace.
func Invitation(link string, l board.InvitationLetter) (Message, error) {
	by, workspace := line(l.InvitedBy), line(l.Workspace)
	if by == "" {
		by = "Somebody"
	}
	until := l.ExpiresAt.Time().Format("2 January 2006")
	role := map[board.WorkspaceRole]string{
		board.WorkspaceOwner: "an owner", board.WorkspaceAdmin: "an admin", board.WorkspaceMember: "a member", board.WorkspaceGuest: "a guest",
	}[l.Role]
	return compose("You are invited to a workspace on Cardwall", content{
		Paragraphs: []string{
			fmt.Sprintf("%s invites you to the workspace %s, as %s.", by, workspace, role),
		},
		Button: "Accept the invitation", Link: link,
		Small: fmt.Sprintf("The link works until %s, for one person. If you don't know what this is about, do nothing, and tell nobody the link.", until),
	})
}

// Verify asks whether an address is that of who signed up with it.
func Verify(link string) (Message, error) {
	return compose("Confirm your address", content{
		Paragraphs: []string{
			"Somebody, presumably you, signed up at Cardwall with this address.",
			"Confirm that it is yours, and your account is ready.",
		},
		Button: "Confirm the address", Link: link,
		Small: "The link works for 24 hours. If you did not sign up, do nothing: without the link there is no account.",
	})
}

// Exists tells the owner of an account that somebody signed up with its address.
func Exists(link string) (Message, error) {
	return compose("You have an account already", content{
		Paragraphs: []string{
			"Somebody, presumably you, signed up at Cardwall with this address. It has an account already.",
			"Sign in with it. If you don't know the password any more, ask for another one there.",
		},
		Button: "Sign in", Link: link,
		Small: "If you did not sign up, do nothing: your account is as it was.",
	})
}

// Reset gives a person a way back into an account.
func Reset(link string) (Message, error) {
	return compose("Choose another password", content{
		Paragraphs: []string{
			"Somebody, presumably you, asked for another password for your account at Cardwall.",
			"Whoever has the link can choose one. Everybody who is signed in with the account is signed out then.",
		},
		Button: "Choose another password", Link: link,
		Small: "The link works for an hour, once. If you did not ask for it, do nothing: your password is as it was.",
	})
}

// WebhookOff tells a webhook's owner that the service switched it off, and why.
func WebhookOff(link string, l board.WebhookLetter) (Message, error) {
	name, host := line(l.Name), line(l.Host)
	if name == "" {
		name = "to " + host
	}
	why, next, button := "", "", "Open the delivery log"
	switch l.Reason {
	case board.OffGone:
		why = fmt.Sprintf("%s responded with 410 Gone, which means that it wants no more deliveries", host)
		next = "If that was a mistake, switch the webhook on again on its page. Otherwise you can delete it there."
	case board.OffOwner:
		why, button = "you own it, and you can no longer manage what it covers", "Open Cardwall"
		next = "Someone who can manage it can switch it on again, and becomes its owner."
	case board.OffPlan:
		why = "its board or workspace was restored from the trash, and the plan has no room for another webhook"
		next = "Delete a webhook that is no longer needed, then switch this one on again."
	default:
		why = fmt.Sprintf("%d deliveries in a row to %s failed", board.FailuresToSwitchOff, host)
		next = "The delivery log shows how the receiver responded. When it works again, switch the webhook on there. Failed deliveries can be sent again."
	}
	return compose("A webhook was switched off", content{
		Paragraphs: []string{
			fmt.Sprintf("The webhook %s of the workspace %s was switched off: %s.", name, line(l.Workspace), why),
			next,
		},
		Button: button, Link: link,
		Small: "You get this email because you own the webhook.",
	})
}

// content is what a letter says, for both of its forms.
type content struct {
	Paragraphs  []string
	Entries     []entry
	Button      string
	Link        string
	Small       string
	Unsubscribe string // addresses that stand at the end; empty for none
	Settings    string
}

// page is the HTML form. It has neither images nor anything else that a reader
// would load.
const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Button}}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 sans-serif;color:#1f2328;background:#ffffff">
{{range .Paragraphs}}<p>{{.}}</p>
{{end}}{{range .Entries}}<p><a href="{{.Link}}" style="color:#1f5fbf;text-decoration:none"><strong>{{.Headline}}</strong></a>{{if .Text}}<br>{{.Text}}{{end}}{{if .Place}}<br><span style="font-size:14px;color:#57606a">{{.Place}}</span>{{end}}</p>
{{end}}<p><a href="{{.Link}}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1f5fbf;color:#ffffff;text-decoration:none">{{.Button}}</a></p>
<p style="font-size:14px;color:#57606a">Or open this address: {{.Link}}</p>
<p style="font-size:14px;color:#57606a">{{.Small}}{{if .Unsubscribe}} <a href="{{.Settings}}" style="color:#57606a">Change them</a>, or <a href="{{.Unsubscribe}}" style="color:#57606a">unsubscribe</a>.{{end}}</p>
</body></html>
`

// compose writes both forms of an email. Nothing that a person typed may be in
// the subject: it would lend our name to whatever somebody calls a workspace.
func compose(subject string, c content) (Message, error) {
	t, err := template.New("letter").Parse(page)
	if err != nil {
		return Message{}, fmt.Errorf("read the letter's form: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, c); err != nil {
		return Message{}, fmt.Errorf("write the letter: %w", err)
	}
	parts := c.Paragraphs
	for _, e := range c.Entries {
		lines := []string{e.Headline, e.Text, e.Place, e.Link}
		parts = append(parts, strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n"))
	}
	if c.Unsubscribe != "" {
		c.Small += "\nChange them: " + c.Settings + "\nUnsubscribe: " + c.Unsubscribe
	}
	text := strings.Join(parts, "\n\n") + "\n\n" + c.Button + ":\n" + c.Link + "\n\n" + c.Small + "\n"
	return Message{Subject: subject, Text: text, HTML: b.String()}, nil
}

// maxLine is how many characters of somebody's text a letter repeats.
const maxLine = 120

// line makes text that a person typed fit for a sentence of an email: oneLine, and
// without anything that mail programs turn into a link. An address or a domain
// in a name is text, and must not be a way out of an email that we sent.
func line(s string) string { return unlinked(oneLine(s)) }

// unlinked puts a zero-width space (U+200B) after the characters that make an
// address or a domain one word. It looks the same, and links of no program go
// over it.
func unlinked(s string) string {
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

// oneLine makes text from elsewhere one line without control and formatting
// characters, which could turn it around, and not too long.
func oneLine(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	})
	runes := []rune(strings.ToValidUTF8(strings.Join(words, " "), "?"))
	if len(runes) > maxLine {
		runes = append(runes[:maxLine-1], '…')
	}
	return string(runes)
}

// redact takes the letter's secret and its recipient out of a text that comes from
// elsewhere, such as the answer of a server that repeats what it refuses.
func (m Message) redact(text string) string {
	if m.secret != "" {
		text = strings.ReplaceAll(text, m.secret, "…")
	}
	if m.To != "" {
		text = strings.ReplaceAll(text, m.To, "…")
	}
	return oneLine(text)
}

// pauses are how long to wait after each failed attempt: about two days in all.
func pauses() []time.Duration {
	return []time.Duration{
		time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
}
