package main

import (
	"errors"
	"fmt"
	"time"

	"cardwall/clients/go"
)

// remoteFlags are the flags of the commands that use the API of a server.
type remoteFlags struct {
	Token string `placeholder:"TOKEN" help:"API token. Use the environment variable, because ps shows flags to every user."`
}

// client returns a client of the server at --base-url.
func (f remoteFlags) client(g *globals) (*cardwall.Client, error) {
	if f.Token == "" {
		return nil, errors.New("set CARDWALL_TOKEN to an API token, which you can create in the profile")
	}
	client, err := cardwall.New(g.BaseURL, f.Token)
	if err != nil {
		return nil, err
	}
	client.UserAgent, client.Timeout = "cardwall/"+apiVersion(), time.Minute
	return client, nil
}

// remoteError returns the text to print for an error of the API, or "" for another error.
func remoteError(err error) string {
	var e *cardwall.APIError
	switch {
	case !errors.As(err, &e):
		return ""
	case e.Code != "":
		return fmt.Sprintf("status %d, %s: %s", e.Status, e.Code, e.Message)
	case e.Status != 0:
		return fmt.Sprintf("%s (status %d); check --base-url", e.Message, e.Status)
	}
	return "the server does not respond: " + e.Message
}
