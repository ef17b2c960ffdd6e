//go:build conformance

package main

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/conformance"
)

// extraTools returns a function that registers the tools that the official MCP
// conformance suite expects. Only test programs, which are built with
// `go build -tags conformance`, include them.
func extraTools() func(*sdk.Server) { return conformance.Register }
