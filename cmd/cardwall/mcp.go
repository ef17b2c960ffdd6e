//go:build !conformance

package main

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// extraTools adds nothing to the tools: the fixtures that the protocol's
// conformance suite asks for are built in with the tag conformance alone.
func extraTools() func(*sdk.Server) { return nil }
