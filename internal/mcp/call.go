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

// jobWait is the longest time that a call waits for a job that it starts.
const jobWait = 20 * time.Second

// outcome is the result of a call, as text and as JSON.
type outcome struct {
	text   []byte // the same JSON as body if the call succeeded
	body   []byte
	failed bool

	picture *sdk.ImageContent // nil for none
}

// hasText reports whether the response contains the text. The data of a success is not sent
// twice to clients of the stateless revision, all of which can read structured content.
func (o outcome) hasText(stateless bool) bool { return o.failed || !stateless }

func (o outcome) result(stateless bool) *sdk.CallToolResult {
	r := &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: jsontext.Value(o.body), IsError: o.failed}
	if o.hasText(stateless) {
		r.Content = append(r.Content, &sdk.TextContent{Text: string(o.text)})
	}
	if o.picture != nil {
		r.Content = append(r.Content, o.picture)
	}
	return r
}

// callTool is the SDK's handler for every tool.
func (e *Endpoint) callTool(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return e.call(ctx, e.tools[r.Params.Name], r.Params.Arguments).result(requestOf(ctx).stateless), nil
}

// call runs a tool for the caller in ctx. It recovers panics.
func (e *Endpoint) call(ctx context.Context, t *tool, object []byte) (out outcome) {
	req := requestOf(ctx)
	req.setOperation(t.Name)
	defer func() {
		if v := recover(); v != nil {
			e.Log.ErrorContext(ctx, "panic", "request", req.caller.RequestID, "tool", t.Name,
				"panic", v, "stack", string(debug.Stack()))
			out = refusal(op.Internal(req.caller.RequestID))
		}
	}()
	if t.Streams() {
		body, err := e.export(ctx, t, req, object)
		if err != nil {
			e.refund(req, t, err)
			return e.refused(ctx, t, req, err)
		}
		return success(body)
	}
	v, object, err := t.view(object)
	if err != nil {
		return e.refused(ctx, t, req, err)
	}
	file, object, err := t.newFileIn(object)
	if err != nil {
		return e.refused(ctx, t, req, err)
	}
	call, err := e.prepareNamed(ctx, t, req, object)
	if err == nil {
		err = e.store(ctx, &call, file)
	}
	if err != nil {
		return e.refused(ctx, t, req, err)
	}
	if err := e.refusePart(ctx, t, call); err != nil {
		return e.refused(ctx, t, req, err)
	}
	call.Wait = jobWait
	result, err := e.Engine.Do(ctx, call)
	var picture *sdk.ImageContent
	body := result.Body
	if err == nil && t.Name == reading {
		body, picture, err = e.withFile(ctx, call, body)
	}
	if err == nil {
		body, err = e.render(ctx, v, body)
	}
	if err == nil {
		out, err = e.limitSize(ctx, t, call, v, success(body))
		out.picture = picture
	}
	if err != nil {
		e.refund(req, t, err)
		return e.refused(ctx, t, req, err)
	}
	if result.Rate != nil {
		req.setRate(*result.Rate)
	}
	return out
}

// render returns the body of a response as an assistant sees it: with a warning, without hidden
// characters, and in a view.
func (e *Endpoint) render(ctx context.Context, v view, body []byte) (_ []byte, err error) {
	body = stripHiddenJSON(body)
	switch {
	case v.columns != nil:
		body, err = e.inTable(ctx, v.columns, body)
	case v.textFrom > 0:
		body, err = textsFrom(body, v.textFrom)
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(`{"notice":"`+untrustedData+`",`), body[len("{"):]), nil
}

// refused returns the outcome of a call that failed with an error.
func (e *Endpoint) refused(ctx context.Context, t *tool, req *request, err error) outcome {
	var candidates []candidate
	if n, ok := errors.AsType[*nameError](err); ok {
		candidates = n.candidates
	}
	f := e.faultOf(ctx, t.Name, req, err)
	if f.Code == board.CodeInsufficientScope && req.caller.Connected {
		req.challenge = f
	}
	return refusal(f, candidates...)
}

// refund undoes the rate-limit count of a call that another limit refused.
func (e *Endpoint) refund(req *request, t *tool, err error) {
	f, ok := board.AsFault(err)
	if !ok || !f.Refused() {
		return
	}
	rate := e.Gate.Refund(req.caller, t.Resource())
	if f.Rate != nil {
		rate = *f.Rate
	}
	req.setRate(rate)
}

// success returns the outcome of a successful call.
func success(body []byte) outcome { return outcome{text: body, body: body} }

// prepare decodes the arguments of a call. Unless the call's resource is the general one,
// which has been counted already, it also counts the call against the rate limit of the
// resource. It does neither if the caller lacks the scope, because the engine then rejects
// the call.
func (e *Endpoint) prepare(t *tool, req *request, object []byte) (op.Call, error) {
	call := op.Call{Operation: t.Operation, Caller: req.caller}
	if !call.Caller.Has(t.Scope) {
		return call, nil
	}
	if resource := t.Resource(); resource != board.ResourceGeneral {
		rate, err := e.Gate.Spend(call.Caller, resource)
		req.setRate(rate)
		if err != nil {
			return call, err
		}
	}
	var err error
	call.Arguments, call.Key, err = t.arguments(object)
	return call, err
}

// prepareNamed is prepare for a call of an assistant, which may contain names instead of ids.
func (e *Endpoint) prepareNamed(ctx context.Context, t *tool, req *request, object []byte) (op.Call, error) {
	call, err := e.prepare(t, req, object)
	if err == nil {
		call, err = e.resolve(ctx, t, call)
	}
	return call, err
}

// faultOf logs an unexpected error of a tool, and returns the fault that the assistant
// sees.
func (e *Endpoint) faultOf(ctx context.Context, name string, req *request, err error) *board.Fault {
	return op.FaultOf(ctx, e.Log.With("tool", name), req.caller.RequestID, err)
}

// guard is middleware for all requests that the SDK handles. It recovers panics and
// rejects URIs that the SDK cannot quote. From the list of tools, it removes those that
// the token's scopes do not allow. To the list of resources, it adds the caller's boards.
func (e *Endpoint) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
		req := requestOf(ctx)
		caller := req.caller
		defer func() {
			if v := recover(); v != nil {
				e.Log.ErrorContext(ctx, "panic", "request", caller.RequestID, "method", method,
					"panic", v, "stack", string(debug.Stack()))
				result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: op.Internal(caller.RequestID).Error()}
			}
		}()
		if readRequest, ok := r.(*sdk.ReadResourceRequest); ok && !isPlainURI(readRequest.Params.URI) {
			return nil, noResource("")
		}
		result, err = next(ctx, method, r)
		if list, ok := result.(*sdk.ListResourcesResult); ok && err == nil {
			boards, err := e.listedBoards(ctx)
			if err != nil {
				return nil, err
			}
			list.Resources = append(list.Resources, boards...)
		}
		if list, ok := result.(*sdk.ListToolsResult); ok && err == nil {
			list.Tools = slices.DeleteFunc(list.Tools, func(listed *sdk.Tool) bool {
				t := e.tools[listed.Name]
				if t == nil {
					return listed.Name == otherTools && req.selected == nil
				}
				return !caller.Has(t.Scope) || !req.selected.has(t)
			})
		}
		return result, err
	}
}
