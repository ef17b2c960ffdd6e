// Package rest serves the REST API. It derives routes and OpenAPI entries from
// operations, turns requests into calls, and maps faults to HTTP statuses.
//
// The package refers to no operation by name. Every error response below /api is
// the error envelope with a code. Every response has the rate-limit headers and a
// request id.
package rest
