// Package rest is the REST interface: operation to route and OpenAPI entry,
// fault to HTTP status, request to call, answer to response.
//
// It imports op, session, store and board, and knows no operation by name. It
// promises that every answer below /api, whatever went wrong, is the envelope
// with a code, and carries the rate-limit headers and a request id.
package rest
