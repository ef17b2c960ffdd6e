package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"cardwall/internal/hook"
)

// hookFlags say how webhooks are delivered.
type hookFlags struct {
	WebhookAllow       []string `placeholder:"HOST[:PORT]" help:"Receivers besides public https ones: hosts, host:port, addresses or CIDRs, a comma between them; http is allowed for these."`
	WebhookCAFile      string   `type:"path" placeholder:"FILE" help:"Certificate authorities (PEM) of receivers, besides the system's."`
	WebhookRetryPauses string   `placeholder:"30s,2m,…" help:"Pauses between the attempts of a delivery; 30s,2m,10m,30m,1h,3h,6h,12h when absent."`
	WebhookPace        float64  `default:"25" placeholder:"N" help:"Attempts a second to one receiver; 25 when absent, 0 for as fast as it answers."`
}

// guard decides where webhooks may go.
func (f hookFlags) guard() (*hook.Guard, error) {
	g, err := hook.NewGuard(hook.GuardOptions{Allow: f.WebhookAllow})
	if err != nil {
		return nil, fmt.Errorf("--webhook-allow: %w", err)
	}
	return g, nil
}

// hookOptions are how deliveries are sent, without what needs the database.
func (f hookFlags) hookOptions(g *globals, guard *hook.Guard) (o hook.Options, err error) {
	o = hook.Options{Guard: guard, Pace: f.WebhookPace, Log: g.log}
	if f.WebhookPace == 0 {
		o.Pace = -1
	}
	if o.Pauses, err = f.pauses(); err != nil {
		return o, err
	}
	if f.WebhookCAFile != "" {
		if o.Roots, err = authorities(f.WebhookCAFile); err != nil {
			return o, fmt.Errorf("--webhook-ca-file: %w", err)
		}
	}
	return o, nil
}

func (f hookFlags) pauses() ([]time.Duration, error) {
	if f.WebhookRetryPauses == "" {
		return nil, nil
	}
	var out []time.Duration
	for _, word := range strings.Split(f.WebhookRetryPauses, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(word))
		if err != nil || d <= 0 || d > 7*24*time.Hour {
			return nil, errors.New("--webhook-retry-pauses must be durations such as 30s,2m,1h, each up to a week")
		}
		out = append(out, d)
	}
	return out, nil
}

// authorities are the system's and those of a file.
func authorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the authorities: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // the system has none
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("the file holds no certificate in PEM")
	}
	return pool, nil
}
