//go:build !conformance

package main

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// extraTools returns nil. Only the build tag conformance adds the fixtures of
// the protocol's conformance suite.
func extraTools() func(*sdk.Server) { return nil }
