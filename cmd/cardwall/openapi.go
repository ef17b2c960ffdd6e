package main

import (
	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/automate"
	"cardwall/internal/connect"
	"cardwall/internal/guest"
	"cardwall/internal/rest"
	"cardwall/internal/transfer"
)

type openapiCommand struct{}

func (openapiCommand) Run(g *globals) error {
	text, err := rest.Encode(rest.Document(guest.AddOperations(connect.AddOperations(account.AddOperations(automate.AddOperations(transfer.AddOperations(app.Operations())), nil), nil), nil), apiVersion()))
	if err == nil {
		_, err = g.stdout.Write(text)
	}
	return err
}
