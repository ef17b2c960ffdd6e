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
const exampleTag = `W/"q0Fb7Q3sWk6hXv1oJtYc2LmN"`

// tagHeader describes the entity tag of operations that have one.
func tagHeader() *huma.Header {
	return &huma.Header{
		Description: "Identifies this response (RFC 9110, 8.8.3). Send it as If-None-Match to learn whether it has changed. " +
			"A list with a filter has none.",
		Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{exampleTag}},
	}
}

func headers() map[string]*huma.Header {
	number := func(text string, example int) *huma.Header {
		return &huma.Header{Description: text, Schema: &huma.Schema{Type: huma.TypeInteger, Examples: []any{example}}}
	}
	word := func(text, example string) *huma.Header {
		return &huma.Header{Description: text, Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{example}}}
	}
	return map[string]*huma.Header{
		"X-Request-Id": word("Id of the request in the server's log. It is the client's own X-Request-Id if the client sent one.",
			"req_01jb2m3n4p5q6r7s8t9v0w1x2y"),
		"X-RateLimit-Limit":     number("What the budget in X-RateLimit-Resource has in each window.", 300),
		"X-RateLimit-Remaining": number("What remains of the budget in this window.", 299),
		"X-RateLimit-Reset":     number("End of the window in Unix seconds.", 1767225660),
		"X-RateLimit-Resource": {
			Description: "The budget that the other headers describe: the request's own, or general if less remains of that. " +
				"After a refusal it is the budget that is used up.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: enum(board.Resources()), Examples: []any{"general"}},
		},
		"Idempotent-Replayed": word("true if this is the stored response to an earlier request with the same key.", "true"),
		"Retry-After":         number("Seconds to wait before you try again.", 1),
		"WWW-Authenticate":    word("How to authenticate (RFC 6750, RFC 9728).", "Bearer realm=\"cardwall\""),
	}
}
