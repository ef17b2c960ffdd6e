package mcp

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// outcome is what came of a call: the same facts as text and as JSON.
type outcome struct {
	text   []byte // for a record the JSON itself
	body   []byte
	failed bool
}

func (o outcome) result() *sdk.CallToolResult {
	return &sdk.CallToolResult{
		Content:           []sdk.Content{&sdk.TextContent{Text: string(o.text)}},
		StructuredContent: jsontext.Value(o.body), IsError: o.failed,
	}
}

// callTool is the handler of every tool.
func (e *Endpoint) callTool(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return e.call(ctx, e.tools[r.Params.Name], r.Params.Arguments).result(), nil
}

// call runs one tool for who asks. It never panics.
func (e *Endpoint) call(ctx context.Context, t *tool, object []byte) (out outcome) {
	asking := askingOf(ctx)
	asking.calls(t.Name)
	defer func() {
		if v := recover(); v != nil {
			e.Log.ErrorContext(ctx, "panic", "request", asking.caller.RequestID, "tool", t.Name, "panic", v, "stack", string(debug.Stack()))
			out = refusal(internal(asking.caller.RequestID))
		}
	}()
	if t.Streams() {
		body, err := e.export(ctx, t, asking, object)
		if err != nil {
			return refusal(e.explain(ctx, t.Name, asking, err))
		}
		return record(body)
	}
	call, err := e.prepare(t, asking, object)
	if err != nil {
		return refusal(e.explain(ctx, t.Name, asking, err))
	}
	answer, err := e.Engine.Do(ctx, call)
	if err == nil {
		out, err = e.fit(ctx, t, call, record(visible(answer.Body)))
	}
	if err != nil {
		return refusal(e.explain(ctx, t.Name, asking, err))
	}
	return out
}

// record is the outcome of a call that worked.
func record(body []byte) outcome { return outcome{text: body, body: body} }

// prepare reads the arguments of a call and counts it when it searches. Who
// has not the scope is told so by the engine, whatever the arguments are.
func (e *Endpoint) prepare(t *tool, asking *asking, object []byte) (op.Call, error) {
	call := op.Call{Operation: t.Operation, Caller: asking.caller}
	if !call.Caller.Has(t.Scope) {
		return call, nil
	}
	if t.Search {
		if err := e.Gate.AdmitSearch(call.Caller); err != nil {
			return call, err
		}
	}
	var err error
	call.Arguments, call.Key, err = t.arguments(object)
	return call, err
}

// explain is a refusal for an error of any kind. What is no fault is logged
// under the request's id.
func (e *Endpoint) explain(ctx context.Context, name string, asking *asking, err error) *board.Fault {
	id := asking.caller.RequestID
	f, ok := board.AsFault(err)
	switch {
	case !ok && errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return &board.Fault{Code: board.CodeUnavailable, Message: "The request was cancelled.", RetryAfter: time.Second} // nobody reads it
	case !ok && errors.Is(err, context.DeadlineExceeded):
		e.Log.WarnContext(ctx, "deadline", "request", id, "tool", name, "error", err)
		return &board.Fault{Code: board.CodeUnavailable, Message: "This took too long; try again in a moment.", RetryAfter: time.Second}
	case !ok:
		e.Log.ErrorContext(ctx, "unexpected error", "request", id, "tool", name, "error", err)
		return internal(id)
	case f.Code == board.CodeUnavailable && f.Cause != board.CauseOverload:
		e.Log.WarnContext(ctx, "unavailable", "request", id, "tool", name, "error", err)
	}
	return f
}

func internal(id string) *board.Fault {
	return board.Refuse(board.CodeInternal, "Something went wrong on our side; the log has it as request %s.", id)
}

// guard stands before every method of the protocol: a panic ends one request,
// and tools that the token's scopes do not reach are not listed. Called all the
// same, they say so.
func (e *Endpoint) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		caller := askingOf(ctx).caller
		defer func() {
			if v := recover(); v != nil {
				e.Log.ErrorContext(ctx, "panic", "request", caller.RequestID, "method", method, "panic", v, "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: internal(caller.RequestID).Error()}
			}
		}()
		if read, ok := r.(*sdk.ReadResourceRequest); ok && !plainURI(read.Params.URI) {
			return nil, noResource("")
		}
		result, err = next(ctx, method, r)
		if list, ok := result.(*sdk.ListToolsResult); ok && err == nil {
			list.Tools = slices.DeleteFunc(list.Tools, func(listed *sdk.Tool) bool {
				t := e.tools[listed.Name]
				return t != nil && !caller.Has(t.Scope)
			})
		}
		return result, err
	}
}
