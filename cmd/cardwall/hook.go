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

// guardFlags holds the flags that decide which servers the program may call.
type guardFlags struct {
	WebhookAllow  []string `placeholder:"HOST[:PORT]" help:"${help_webhook_allow}"`
	WebhookCAFile string   `type:"path" placeholder:"FILE" help:"${help_webhook_ca_file}"`
}

// hookFlags holds the flags that configure webhook deliveries.
type hookFlags struct {
	guardFlags
	WebhookRetryPauses string  `placeholder:"30s,2m,…" help:"${help_webhook_retry_pauses}"`
	WebhookPace        float64 `default:"25" placeholder:"N" help:"Attempts per second to one receiver; 0 is unlimited (default ${default})."`
}

// guard returns the guard that checks the addresses of servers.
func (f guardFlags) guard() (*hook.Guard, error) {
	g, err := hook.NewGuard(hook.GuardOptions{Allow: f.WebhookAllow})
	if err != nil {
		return nil, fmt.Errorf("--webhook-allow: %w", err)
	}
	return g, nil
}

// hookOptions returns the settings of deliveries.
func (f hookFlags) hookOptions() (o hook.Options, err error) {
	o.Rate = f.WebhookPace
	if f.WebhookPace == 0 {
		o.Rate = -1
	}
	if o.Pauses, err = f.retryPauses(); err != nil {
		return o, err
	}
	o.Roots, err = f.roots()
	return o, err
}

// roots returns the certificate authorities to trust, or nil for those of the system.
func (f guardFlags) roots() (*x509.CertPool, error) {
	if f.WebhookCAFile == "" {
		return nil, nil
	}
	pool, err := authorities(f.WebhookCAFile)
	if err != nil {
		return nil, fmt.Errorf("--webhook-ca-file: %w", err)
	}
	return pool, nil
}

func (f hookFlags) retryPauses() ([]time.Duration, error) {
	if f.WebhookRetryPauses == "" {
		return nil, nil
	}
	var out []time.Duration
	for _, text := range strings.Split(f.WebhookRetryPauses, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d <= 0 || d > 7*24*time.Hour {
			return nil, errors.New("--webhook-retry-pauses must be durations such as 30s,2m,1h, each up to a week")
		}
		out = append(out, d)
	}
	return out, nil
}

// authorities returns the system's certificate authorities and those in a PEM file.
func authorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificate authorities: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // the system has no certificate authorities
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("the file contains no PEM certificate")
	}
	return pool, nil
}
