package main

import (
	"context"
	"fmt"

	"cardwall/internal/login"
)

// loginCommand signs a person in to a server.
type loginCommand struct {
	Scopes []string `env:"-" enum:"read,write,admin" default:"read,write" placeholder:"SCOPE" help:"What the commands may do: read, write, admin (default ${default})."`
}

func (loginCommand) Help() string {
	return "Shows the address of a page on which you allow access, and waits until you have done so. You can open the page on " +
		"another device. The login is stored in your configuration folder; it ends with cardwall logout, in your profile under " +
		"Connected apps, or when it is not used for 90 days."
}

func (c loginCommand) Run(ctx context.Context, g *globals) error {
	logins, err := login.Open()
	if err != nil {
		return err
	}
	prompt := func(address, code string) {
		g.print("Open this page, and allow access if it shows the code %s:\n\n  %s\n", code, address)
	}
	if err := logins.Login(ctx, g.BaseURL, c.Scopes, prompt); err != nil {
		return err
	}
	g.print("You are signed in to %s.", g.BaseURL)
	return nil
}

// logoutCommand ends a login.
type logoutCommand struct{}

func (logoutCommand) Run(ctx context.Context, g *globals) error {
	logins, err := login.Open()
	if err != nil {
		return err
	}
	base, err := g.signedIn(logins)
	if err != nil {
		return err
	}
	if err := logins.Logout(ctx, base); err != nil {
		return fmt.Errorf("%w (%s)", err, base)
	}
	g.print("You are signed out of %s.", base)
	return nil
}
