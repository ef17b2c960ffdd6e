package main

import (
	"fmt"

	"cardwall/internal/connect"
	"cardwall/internal/hook"
)

// connectFlags holds the flags that configure how apps connect through OAuth.
type connectFlags struct {
	ConnectRegistration string `default:"on" enum:"on,off" help:"${help_connect_registration}"`
}

// authorization returns the OAuth authorization server. To fetch client metadata
// documents, it uses the same address guard and certificate authorities as
// webhooks.
func (f connectFlags) authorization(g *globals, guard *hook.Guard, unlimited bool,
	caFile string) (*connect.Server, error) {
	o := connect.Options{
		BaseURL: g.BaseURL, Registration: f.ConnectRegistration == "on", Unlimited: unlimited,
		Check: guard.Check, Dial: guard.Dial, Log: g.log,
	}
	if caFile != "" {
		var err error
		if o.Roots, err = authorities(caFile); err != nil {
			return nil, fmt.Errorf("--webhook-ca-file: %w", err)
		}
	}
	return connect.New(o), nil
}
