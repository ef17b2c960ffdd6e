package main

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"

	"cardwall/internal/mail"
)

// mailFlags holds the flags that configure how email is sent.
type mailFlags struct {
	SMTPURL  string `name:"smtp-url" placeholder:"ADDRESS" help:"${help_smtp_url}"`
	MailFrom string `placeholder:"ADDRESS" help:"Sender address of emails (default: no-reply@ the host of --base-url)."`
}

// newSender returns the sender that the flags configure. Without an SMTP URL, the
// sender writes emails to the outbox folder.
func (f mailFlags) newSender(g *globals) (*mail.Sender, error) {
	host := "localhost"
	if u, err := url.Parse(g.BaseURL); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	from := cmp.Or(f.MailFrom, "Cardwall <no-reply@"+host+">")
	outbox := filepath.Join(g.Data, "outbox")
	sender, err := mail.NewSender(mail.Options{SMTP: f.SMTPURL, From: from, Host: host, Outbox: outbox, Log: g.log, Clock: g.now})
	if err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	if f.SMTPURL == "" {
		g.log.Warn("no mail server configured (CARDWALL_SMTP_URL); emails are written to the outbox folder", "folder", outbox)
	}
	return sender, nil
}
