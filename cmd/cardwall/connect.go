package main

import (
	"fmt"

	"cardwall/internal/connect"
	"cardwall/internal/hook"
)

// connectFlags configure how apps connect through OAuth.
type connectFlags struct {
	ConnectRegistration string `default:"on" enum:"on,off" help:"${help_connect_registration}"`
}

// authorization returns the OAuth authorization server. It fetches client
// metadata documents through the guard of webhooks, and trusts the same
// certificate authorities.
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
