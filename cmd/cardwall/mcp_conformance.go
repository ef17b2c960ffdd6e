//go:build conformance

package main

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/conformance"
)

// extraTools registers the tools that the official MCP conformance suite expects.
// Only programs built with `go build -tags conformance`, which are for tests,
// include them.
func extraTools() func(*sdk.Server) { return conformance.Register }
