package main

import (
	"cardwall/internal/catalog"
	"cardwall/internal/rest"
)

type openapiCommand struct{}

func (openapiCommand) Run(g *globals) error {
	text, err := rest.Encode(rest.Document(catalog.New(catalog.Parts{}), apiVersion()))
	if err == nil {
		_, err = g.stdout.Write(text)
	}
	return err
}
