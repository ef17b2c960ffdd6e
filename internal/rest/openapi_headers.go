package rest

import (
	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
)

func headerRefs(names ...string) map[string]*huma.Param {
	out := map[string]*huma.Param{}
	for _, n := range names {
		out[n] = &huma.Param{Ref: "#/components/headers/" + n}
	}
	return out
}

// exampleTag is an entity tag in examples.
const exampleTag = `"q0Fb7Q3sWk6hXv1oJtYc2LmN"`

// conditional returns the description of a header that contains an entity tag.
func conditional(name, description string) *huma.Param {
	return &huma.Param{
		Name: name, In: "header", Description: description, Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{exampleTag}},
	}
}

// tagHeader describes the ETag header.
func tagHeader() *huma.Header {
	return &huma.Header{
		Description: "Identifies this version of the response (RFC 9110, 8.8.3). Send it as If-None-Match to check whether " +
			"the response has changed. Send the ETag of an object as If-Match to change it only if nobody else has.",
		Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{exampleTag}},
	}
}

func numberHeader(description string, example int) *huma.Header {
	return &huma.Header{Description: description, Schema: &huma.Schema{Type: huma.TypeInteger, Examples: []any{example}}}
}

func textHeader(description, example string) *huma.Header {
	return &huma.Header{Description: description, Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{example}}}
}

func headers() map[string]*huma.Header {
	return map[string]*huma.Header{
		"X-Request-Id": textHeader("Id of the request, as in the server log: the X-Request-Id that the client sent, or a generated id.",
			"req_01jb2m3n4p5q6r7s8t9v0w1x2y"),
		"X-RateLimit-Limit":     numberHeader("Number of requests that the budget in X-RateLimit-Resource allows in each window.", 300),
		"X-RateLimit-Remaining": numberHeader("Number of requests that remain in the current window.", 299),
		"X-RateLimit-Reset":     numberHeader("End of the current window in Unix seconds.", 1767225660),
		"X-RateLimit-Resource": {
			Description: "The budget that the other headers describe. If a request counts against two budgets, it is the one with " +
				"fewer requests remaining. If the request is rejected, it is the exhausted budget.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: enum(board.Resources()), Examples: []any{"general"}},
		},
		"Idempotent-Replayed": textHeader("true if this is the stored response to an earlier request with the same key.", "true"),
		"Retry-After":         numberHeader("Number of seconds to wait before a retry.", 1),
		"WWW-Authenticate":    textHeader("How to authenticate (RFC 6750, RFC 9728).", "Bearer realm=\"cardwall\""),
	}
}
