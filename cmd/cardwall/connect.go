package main

import (
	"fmt"

	"cardwall/internal/connect"
	"cardwall/internal/hook"
)

// connectFlags say how programs connect without a pasted token.
type connectFlags struct {
	ConnectRegistration string `default:"on" enum:"on,off" help:"Let programs register themselves (RFC 7591) to ask people for access: on or off. With off, only those connect that describe themselves at an https address of their own."`
}

// authorization is the server by which programs connect. What it fetches for
// strangers goes through the guard of webhooks, and trusts the same authorities.
func (f connectFlags) authorization(g *globals, guard *hook.Guard, unlimited bool, caFile string) (*connect.Server, error) {
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
