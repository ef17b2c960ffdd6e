package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Options say how letters leave.
type Options struct {
	SMTP   string // smtp://user:password@host:port or smtps://…; empty: none leaves, all go to the outbox
	From   string // the sender's address, with or without a name
	Outbox string // a folder; used without SMTP
	Log    *slog.Logger
	Clock  func() time.Time // nil is time.Now
}

// Sender sends messages.
type Sender struct {
	opts   Options
	from   *netmail.Address
	client func() (*gomail.Client, error) // nil: to the outbox
}

// sendTimeout bounds one conversation with the server.
const sendTimeout = 30 * time.Second

// NewSender checks the options. Its errors don't repeat the server's address,
// which holds a password.
func NewSender(opts Options) (*Sender, error) {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	from, err := netmail.ParseAddress(opts.From)
	if err != nil {
		return nil, fmt.Errorf("the sender of emails must be an address such as Cardwall <cards@example.com>: %w", err)
	}
	s := &Sender{opts: opts, from: from}
	if opts.SMTP == "" {
		return s, nil
	}
	host, options, err := dialOptions(opts.SMTP)
	if err != nil {
		return nil, err
	}
	s.client = func() (*gomail.Client, error) { return gomail.NewClient(host, options...) }
	_, err = s.client()
	return s, err
}

// dialOptions reads the address of a server. With a password the connection is
// encrypted, unless the server is on this machine; without one it is where the
// server offers it.
func dialOptions(address string) (host string, options []gomail.Option, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return "", nil, errors.New("the address of the mail server must be smtp://user:password@host:port or smtps://user:password@host:port")
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
			auth = gomail.SMTPAuthPlain // go-mail discovers no plain password without encryption
		}
		password, _ := u.User.Password()
		options = append(options, gomail.WithSMTPAuth(auth), gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	return u.Hostname(), options, nil
}

// errFinal marks a failure that a retry does not mend.
var errFinal = errors.New("the email cannot be sent")

// Send hands a message to the server, or puts it into the outbox. An error is
// errFinal when the server will never take it.
func (s *Sender) Send(ctx context.Context, m Message) error {
	msg, err := s.build(m)
	if err != nil {
		return fmt.Errorf("%w: %s", errFinal, m.redact(err.Error()))
	}
	if s.client == nil {
		return s.keep(msg, m)
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	// What fails behind the delivery is the farewell alone.
	if err := client.DialAndSendWithContext(ctx, msg); err != nil && !msg.IsDelivered() {
		return failure(err, m)
	}
	s.opts.Log.Info("sent an email", "letter", m.ID)
	return nil
}

// failure keeps of a server's answer what an operator needs, without secrets.
// Only a refusal of the recipient or of the letter itself is final. That the
// server refuses us (our password, our sender's address) is for the operator to
// mend, and every letter would be lost by it.
func failure(err error, m Message) error {
	var refused *gomail.SendError
	text := m.redact(err.Error())
	if errors.As(err, &refused) && refused.ErrorCode() >= 500 {
		switch refused.Reason {
		case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
			return fmt.Errorf("%w: %s", errFinal, text)
		}
	}
	return errors.New(text)
}

func (s *Sender) build(m Message) (*gomail.Msg, error) {
	msg := gomail.NewMsg()
	msg.FromMailAddress(s.from)
	to := &netmail.Address{Address: m.To}
	if _, err := netmail.ParseAddress(to.String()); err != nil {
		return nil, fmt.Errorf("the recipient is no address: %w", err)
	}
	msg.SetAddrHeaderFromMailAddress(gomail.HeaderTo, to)
	msg.Subject(line(m.Subject))
	msg.SetDateWithValue(s.opts.Clock().UTC())
	_, domain, _ := strings.Cut(s.from.Address, "@")
	msg.SetMessageIDWithValue(m.ID + "@" + domain)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office answers
	msg.SetUserAgent("Cardwall")
	if m.unsubscribe != "" { // RFC 2369, and with one click by RFC 8058
		msg.SetGenHeader("List-Unsubscribe", "<"+m.unsubscribe+">")
		msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, nil
}

// keep writes a message into the outbox, where only the operator reads it, and
// says so in the log. Whom it goes to, and what it says, is in the file alone.
func (s *Sender) keep(msg *gomail.Msg, m Message) (err error) {
	if err := os.MkdirAll(s.opts.Outbox, 0o700); err != nil {
		return fmt.Errorf("make the outbox: %w", err)
	}
	name := filepath.Join(s.opts.Outbox, s.opts.Clock().UTC().Format("20060102T150405.000Z")+"-"+m.ID+".eml")
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write to the outbox: %w", err)
	}
	_, err = msg.WriteTo(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write to the outbox: %w", err)
	}
	s.opts.Log.Info("no mail server is configured: an email lies in the outbox", "letter", m.ID, "file", name)
	return nil
}
