//go:build conformance

package main

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/conformance"
)

// extraTools are what the official conformance suite expects to find: `go build
// -tags conformance` makes a program with them, which no one but the tests runs.
func extraTools() func(*sdk.Server) { return conformance.Register }
