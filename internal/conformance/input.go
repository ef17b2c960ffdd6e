package conformance

//lint:file-ignore SA1019 both revisions still allow roots and sampling, and the suite tests them

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// question asks the client for input from its user, its model or its list of roots. A tool sends
// a question before it returns its result.
type question struct {
	id      string
	request mcp.InputRequest
}

// fields is the schema of a form, by field name.
type fields map[string]map[string]any

func form(id, message string, in fields) question {
	return question{id, &mcp.ElicitParams{Message: message, RequestedSchema: map[string]any{"type": "object", "properties": in}}}
}

func completion(id, prompt string) question {
	return question{id, &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text(prompt)}}}}
}

var (
	userName       = form("user_name", "What is your name?", fields{"name": {"type": "string"}})
	username       = form("username", "Choose a user name.", fields{"username": {"type": "string"}})
	confirmation   = form("confirm", "Please confirm.", fields{"ok": {"type": "boolean"}})
	stepOne        = form("step1", "What is your name?", fields{"name": {"type": "string"}})
	stepTwo        = form("step2", "What is your favorite color?", fields{"color": {"type": "string"}})
	userContext    = form("user_context", "What is the context?", fields{"context": {"type": "string"}})
	capital        = completion("capital_question", "What is the capital of France?")
	samplingPrompt = completion("prompt", "Test prompt for sampling")
	roots          = question{"client_roots", &mcp.ListRootsParams{}}
	defaults       = form("defaults", "Fields with defaults.", fields{
		"name":     {"type": "string", "default": "John Doe"},
		"age":      {"type": "integer", "default": 30},
		"score":    {"type": "number", "default": 95.5},
		"status":   {"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
		"verified": {"type": "boolean", "default": true},
	})
	enums = form("enums", "Fields with options.", fields{
		"untitledSingle": {"type": "string", "enum": []string{"option1", "option2", "option3"}},
		"titledSingle":   {"type": "string", "oneOf": titled("value1", "value2", "value3")},
		"legacyEnum":     {"type": "string", "enum": []string{"opt1", "opt2"}, "enumNames": []string{"Option One", "Option Two"}},
		"untitledMulti":  {"type": "array", "items": map[string]any{"type": "string", "enum": []string{"option1", "option2"}}},
		"titledMulti":    {"type": "array", "items": map[string]any{"anyOf": titled("value1", "value2")}},
	})
)

func titled(values ...string) []map[string]string {
	out := make([]map[string]string, len(values))
	for i, v := range values {
		out[i] = map[string]string{"const": v, "title": "Option " + v}
	}
	return out
}

// answered returns the client's response to a question as text. It reports whether the response
// is usable: an accepted form with at least one field, a model's text, or roots.
func (q question) answered(given mcp.InputResponseMap) (string, bool) {
	switch r := given[q.id].(type) {
	case *mcp.ElicitResult:
		return fmt.Sprint(r.Content), r.Action == "accept" && len(r.Content) > 0
	case *mcp.CreateMessageWithToolsResult:
		return fmt.Sprintf("%d content blocks from a model", len(r.Content)), len(r.Content) > 0
	case *mcp.ListRootsResult:
		return fmt.Sprintf("%d roots", len(r.Roots)), true
	default:
		return "", false
	}
}

// open returns the requests that have no usable response yet, and the usable responses as text.
func open(questions []question, given mcp.InputResponseMap) (requests mcp.InputRequestMap, summary string) {
	requests = mcp.InputRequestMap{}
	var texts []string
	for _, q := range questions {
		if a, ok := q.answered(given); ok {
			texts = append(texts, a)
		} else {
			requests[q.id] = q.request
		}
	}
	return requests, strings.Join(texts, ", ")
}

// ask returns a tool that asks the questions until each has a usable response.
func ask(questions ...question) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		requests, responses := open(questions, r.Params.InputResponses)
		if len(requests) > 0 {
			return &mcp.CallToolResult{InputRequests: requests}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{text("You said: " + responses)}}, nil
	}
}

// askSupported returns a tool that asks only the questions whose kind the client supports.
func askSupported(form, model, roots question) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var offered []question
		if c := r.ClientCapabilities(); c != nil {
			if c.Elicitation != nil {
				offered = append(offered, form)
			}
			if c.Sampling != nil {
				offered = append(offered, model)
			}
			if c.RootsV2 != nil {
				offered = append(offered, roots)
			}
		}
		return ask(offered...)(ctx, r)
	}
}

// needSampling returns an error to a client that does not support sampling.
func needSampling(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
		return &mcp.CallToolResult{Content: []mcp.Content{text("The client supports sampling.")}}, nil
	}
	return nil, &jsonrpc.Error{
		Code:    mcp.CodeMissingRequiredClientCapabilities,
		Message: "This tool requires sampling, which the client does not support.",
		Data:    []byte(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}

// sealer signs the state that a client stores for a tool between two rounds. The tool rejects
// state that this server did not sign.
type sealer struct{ key []byte }

func (s sealer) code(state string) string {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(state))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func (s sealer) seal(state string) string { return state + "." + s.code(state) }

// open verifies a sealed state and returns its content.
func (s sealer) open(sealed string) (string, error) {
	state, code, _ := strings.Cut(sealed, ".")
	if !hmac.Equal([]byte(code), []byte(s.code(state))) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState was not created by this server."}
	}
	return state, nil
}

// ask returns a tool that asks all questions in one round. It accepts responses only together
// with the state of that round.
func (s sealer) ask(questions ...question) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		given := r.Params.InputResponses
		if r.Params.RequestState == "" {
			given = nil
		} else if _, err := s.open(r.Params.RequestState); err != nil {
			return nil, err
		}
		requests, responses := open(questions, given)
		if len(requests) > 0 {
			return &mcp.CallToolResult{InputRequests: requests, RequestState: s.seal("asked")}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{text("state-ok: " + responses)}}, nil
	}
}

// askInTurn returns a tool that asks one question per round. The state is the number of
// completed rounds.
func (s sealer) askInTurn(questions ...question) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var done int
		if r.Params.RequestState != "" {
			state, err := s.open(r.Params.RequestState)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal([]byte(state), &done); err != nil {
				return nil, fmt.Errorf("decode the state: %w", err)
			}
			if _, ok := questions[done].answered(r.Params.InputResponses); ok {
				done++
			}
		}
		if done == len(questions) {
			return &mcp.CallToolResult{Content: []mcp.Content{text(fmt.Sprintf("All %d rounds are done.", done))}}, nil
		}
		q := questions[done]
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{q.id: q.request}, RequestState: s.seal(fmt.Sprint(done))}, nil
	}
}
