// Package rest serves the REST API. It derives routes and OpenAPI entries from
// operations, turns requests into calls, and maps faults to HTTP statuses.
//
// The package does not refer to any operation by name. Every response has a request
// id. Responses to calls, and to requests for unknown paths below /api, have the
// rate-limit headers. If such a response is an error, its body is the error envelope
// with a code.
package rest
