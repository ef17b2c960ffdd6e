package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Options configures a Sender.
type Options struct {
	SMTP   string // smtp://user:password@host:port or smtps://…; if empty, messages are written to Outbox
	From   string // sender address, with or without a name
	Host   string // host of the base URL: the name that the mail server is told
	Outbox string // folder; used only without SMTP
	Log    *slog.Logger
	Clock  func() time.Time // default time.Now
}

// Sender sends messages through SMTP or writes them to the outbox.
type Sender struct {
	opts   Options
	from   *netmail.Address
	client func() (*gomail.Client, error) // nil to use the outbox
}

// sendTimeout limits one SMTP conversation.
const sendTimeout = 30 * time.Second

// NewSender returns a Sender, or an error if the options are invalid. The error does
// not contain the URL of the mail server, because the URL can include a password.
func NewSender(opts Options) (*Sender, error) {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	from, err := netmail.ParseAddress(opts.From)
	if err != nil {
		return nil, fmt.Errorf("the sender address must look like Cardwall <cards@example.com>: %w", err)
	}
	s := &Sender{opts: opts, from: from}
	if opts.SMTP == "" {
		return s, nil
	}
	host, options, err := dialOptions(opts.SMTP)
	if err != nil {
		return nil, err
	}
	options = append(options, gomail.WithHELO(greeting(opts.Host)))
	s.client = func() (*gomail.Client, error) { return gomail.NewClient(host, options...) }
	_, err = s.client()
	return s, err
}

// greeting returns the argument of EHLO for a host: its name, or an address literal (RFC
// 5321, 4.1.3). The name of the machine would not do: in a container it is not qualified,
// and some relays then refuse all email.
func greeting(host string) string {
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "":
		return "localhost"
	case err != nil:
		return host
	case ip.Is6():
		return "[IPv6:" + ip.WithZone("").String() + "]"
	}
	return "[" + ip.String() + "]"
}

// dialOptions parses the URL of a mail server. An smtps: URL always uses TLS. An smtp:
// URL with credentials requires TLS, unless the server is on this machine. Other smtp:
// URLs use TLS if the server offers it.
func dialOptions(address string) (host string, options []gomail.Option, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" ||
		u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return "", nil, errors.New("the address of the mail server must be smtp://user:password@host:port " +
			"or smtps://user:password@host:port")
	}
	options = []gomail.Option{gomail.WithTimeout(sendTimeout)}
	port := 587
	local := u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1"
	policy := gomail.TLSMandatory
	if u.User == nil || local {
		policy = gomail.TLSOpportunistic
	}
	if u.Scheme == "smtps" {
		port = 465
		options = append(options, gomail.WithSSL())
	} else {
		options = append(options, gomail.WithTLSPolicy(policy))
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return "", nil, errors.New("the port of the mail server must be a number")
		}
	}
	options = append(options, gomail.WithPort(port))
	if u.User != nil {
		auth := gomail.SMTPAuthAutoDiscover
		if local && u.Scheme == "smtp" {
			auth = gomail.SMTPAuthPlain // go-mail does not discover PLAIN on an unencrypted connection
		}
		password, _ := u.User.Password()
		options = append(options,
			gomail.WithSMTPAuth(auth), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return u.Hostname(), options, nil
}

// errPermanent marks a failure that a retry cannot fix.
var errPermanent = errors.New("the email cannot be sent")

// Send sends a message through SMTP or writes it to the outbox. The error wraps
// errPermanent if a retry would fail as well.
func (s *Sender) Send(ctx context.Context, m Message) error {
	msg, err := s.build(m)
	if err != nil {
		return fmt.Errorf("%w: %s", errPermanent, m.redact(err.Error()))
	}
	if s.client == nil {
		return s.writeToOutbox(msg, m)
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	// After delivery, only QUIT can fail, and the server has accepted the email.
	if err := client.DialAndSendWithContext(ctx, msg); err != nil && !msg.IsDelivered() {
		return smtpError(err, m)
	}
	s.opts.Log.Info("email sent", "email", m.ID)
	return nil
}

// smtpError returns the error of a mail server without secrets. The error is
// permanent only if the server rejects the recipient or the message (5xx). A
// rejected password or sender address counts as temporary: the operator can fix it,
// and otherwise every email would be lost until then.
func smtpError(err error, m Message) error {
	var rejected *gomail.SendError
	text := m.redact(err.Error())
	if errors.As(err, &rejected) && rejected.ErrorCode() >= 500 {
		switch rejected.Reason {
		case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
			return fmt.Errorf("%w: %s", errPermanent, text)
		}
	}
	return errors.New(text)
}

func (s *Sender) build(m Message) (*gomail.Msg, error) {
	msg := gomail.NewMsg()
	msg.FromMailAddress(s.from)
	to := &netmail.Address{Address: m.To}
	if _, err := netmail.ParseAddress(to.String()); err != nil {
		return nil, fmt.Errorf("the recipient is not a valid address: %w", err)
	}
	msg.SetAddrHeaderFromMailAddress(gomail.HeaderTo, to)
	msg.Subject(line(m.Subject))
	msg.SetDateWithValue(s.opts.Clock().UTC())
	_, domain, _ := strings.Cut(s.from.Address, "@")
	msg.SetMessageIDWithValue(m.ID + "@" + domain)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: prevents out-of-office replies
	msg.SetUserAgent("Cardwall")
	if m.unsubscribe != "" { // RFC 2369, and RFC 8058 for one click
		msg.SetGenHeader("List-Unsubscribe", "<"+m.unsubscribe+">")
		msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	// Quoted-printable would break links, which some mail programs do not put together again.
	msg.SetBodyString(gomail.TypeTextPlain, wrap(m.Text), gomail.WithPartEncoding(gomail.NoEncoding))
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, nil
}

// writeToOutbox writes a message to the outbox, which only the server's user can read.
// The log contains neither the recipient nor the content.
func (s *Sender) writeToOutbox(msg *gomail.Msg, m Message) (err error) {
	if err := os.MkdirAll(s.opts.Outbox, 0o700); err != nil {
		return fmt.Errorf("create outbox: %w", err)
	}
	name := filepath.Join(s.opts.Outbox, s.opts.Clock().UTC().Format("20060102T150405.000Z")+"-"+m.ID+".eml")
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write to outbox: %w", err)
	}
	_, err = msg.WriteTo(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write to outbox: %w", err)
	}
	s.opts.Log.Info("email written to the outbox, because no mail server is configured", "email", m.ID, "file", name)
	return nil
}
