package mcp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"cardwall/internal/board"
)

// methods are the supported methods of revisions before statelessVersion. For
// these revisions the SDK also serves methods of capabilities that the server
// does not declare.
var methods = []string{
	"initialize", "ping", "completion/complete", "prompts/get", "prompts/list",
	"resources/list", "resources/read", "resources/templates/list",
	"server/discover", "tools/call", "tools/list",
}

// message is the envelope of a JSON-RPC message.
type message struct {
	id     jsontext.Value // exactly as sent; nil if there is none
	method string         // "" for a response
}

// rpcError is a JSON-RPC error.
type rpcError struct {
	status  int // HTTP status
	code    int64
	message string
	data    jsontext.Value // may be nil
}

func invalidMessage(text string) *rpcError {
	return &rpcError{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, message: text}
}

const maxID = 1000 // bytes

// readMessage parses the envelope of a message. It rejects batches, because each
// request must count against the rate limits.
func readMessage(body []byte) (m message, problem *rpcError) {
	v := jsontext.Value(body)
	switch {
	case !v.IsValid():
		return m, &rpcError{
			status: http.StatusBadRequest, code: jsonrpc.CodeParseError,
			message: "Parse error: the body must be one JSON value in UTF-8, without duplicate names.",
		}
	case v.Kind() == '[':
		return m, invalidMessage("Invalid request: the body must be one message; batches are not supported.")
	case v.Kind() != '{':
		return m, invalidMessage("Invalid request: the body must be a JSON object.")
	}
	var envelope struct {
		Version jsontext.Value `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Method  jsontext.Value `json:"method"`
		Result  jsontext.Value `json:"result"`
		Error   jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return m, invalidMessage("Invalid request: the body is not a message of JSON-RPC 2.0.")
	}
	if kind := envelope.ID.Kind(); envelope.ID != nil && (kind != '"' && kind != '0' || len(envelope.ID) > maxID) {
		return m, invalidMessage("Invalid request: id must be a string or a number of at most " + strconv.Itoa(maxID) + " bytes.")
	}
	m.id = envelope.ID
	if string(envelope.Version) != `"2.0"` {
		return m, invalidMessage(`Invalid request: jsonrpc must be "2.0".`)
	}
	switch {
	case envelope.Method.Kind() == '"':
		method, err := jsontext.AppendUnquote(nil, envelope.Method)
		if err != nil {
			return m, invalidMessage("Invalid request: method must be valid UTF-8.")
		}
		m.method = string(method)
	case envelope.Method != nil || envelope.Result == nil && envelope.Error == nil:
		return m, invalidMessage("Invalid request: method must be a string.")
	}
	return m, nil
}

// unknownMethod returns an error for a method that the server does not support.
// For statelessVersion it returns nil: the SDK rejects the method, with a
// different HTTP status.
func (m message) unknownMethod(r *http.Request) *rpcError {
	version := r.Header.Get("Mcp-Protocol-Version")
	before := version == "" || version != statelessVersion && slices.Contains(versions, version)
	if !before || m.id == nil || m.method == "" || slices.Contains(methods, m.method) || strings.HasPrefix(m.method, "notifications/") {
		return nil
	}
	// Clients read the error only if the status is 200.
	return &rpcError{
		status: http.StatusOK, code: jsonrpc.CodeMethodNotFound,
		message: "Method not found: this server has no method " + strconv.Quote(m.method) + ".",
	}
}

// writeError writes a JSON-RPC error. The id is nil if it is unknown.
func writeError(w http.ResponseWriter, id jsontext.Value, e *rpcError) {
	b := []byte(`{"jsonrpc":"2.0","id":`)
	if id == nil {
		b = append(b, "null"...)
	} else {
		b = appendEscaped(b, id)
	}
	b = strconv.AppendInt(append(b, `,"error":{"code":`...), e.code, 10)
	b = appendText(append(b, `,"message":`...), plain([]byte(e.message)))
	if e.data != nil {
		b = appendEscaped(append(b, `,"data":`...), e.data)
	}
	writeBody(w, e.status, append(b, "}}"...))
}

func writeBody(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails only if the client is gone
}

// serveSDK lets the SDK handle a message. It turns plain-text errors of the SDK
// into JSON-RPC errors. The SDK parses numeric ids as integers, so an id that it
// would change is replaced for the call and restored in the response.
func (e *Endpoint) serveSDK(w http.ResponseWriter, r *http.Request, m message, body []byte) {
	replaced := m.id.Kind() == '0' && !plainID(m.id)
	if replaced {
		body = withID(body, jsontext.Value("0"))
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	got := &response{header: w.Header(), status: http.StatusOK}
	e.sdk.ServeHTTP(got, r)
	if got.status >= http.StatusBadRequest && !isJSON(w.Header().Get("Content-Type")) {
		code := int64(jsonrpc.CodeInvalidRequest)
		if got.status >= http.StatusInternalServerError {
			code = jsonrpc.CodeInternalError
		}
		writeError(w, m.id, &rpcError{status: got.status, code: code, message: strings.TrimSpace(got.body.String())})
		return
	}
	out := got.body.Bytes()
	if replaced {
		out = withID(out, m.id)
	}
	if len(out) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	}
	w.WriteHeader(got.status)
	_, _ = w.Write(out) // fails only if the client is gone
}

// response is an http.ResponseWriter that buffers the body.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *response) Header() http.Header         { return r.header }
func (r *response) WriteHeader(status int)      { r.status = status }
func (r *response) Write(p []byte) (int, error) { return r.body.Write(p) }

// withID returns a message with another id. It returns a body without an id
// unchanged.
func withID(body []byte, id jsontext.Value) []byte {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return body
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return body
		}
		isID := name.String() == "id"
		v, err := d.ReadValue()
		if err != nil {
			return body
		}
		if end := int(d.InputOffset()); isID {
			return slices.Concat(body[:end-len(v)], id, body[end:])
		}
	}
	return body
}

// maxRefused limits how much is read of a rate-limited request, in bytes.
const maxRefused = 64 << 10

// Refuse writes an error response for a request to this endpoint; its headers are
// already set. Clients do not show the model a response with a status other than
// 200. A rate-limited tool call therefore gets a tool result that says when to
// try again.
func (e *Endpoint) Refuse(w http.ResponseWriter, r *http.Request, f *board.Fault, status int) {
	var m message
	if f.Code == board.CodeRateLimited && r.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRefused))
		var tooLarge *http.MaxBytesError
		if err == nil || errors.As(err, &tooLarge) {
			m, _ = readMessage(body)
		}
	}
	if m.method == "tools/call" && m.id != nil {
		e.writeResult(w, m.id, r.Header.Get("Mcp-Protocol-Version") == statelessVersion, refusal(f))
		return
	}
	writeError(w, m.id, refused(f, status))
}

// refused returns a fault as a JSON-RPC error.
func refused(f *board.Fault, status int) *rpcError {
	out := refusal(f)
	var body struct {
		Error jsontext.Value `json:"error"`
	}
	e := &rpcError{status: status, code: codeRefused, message: string(out.text)}
	if err := json.Unmarshal(out.body, &body); err == nil {
		e.data = body.Error
	}
	switch f.Code {
	case board.CodeInvalidRequest:
		e.code = jsonrpc.CodeInvalidRequest
	case board.CodeInternal:
		e.code = jsonrpc.CodeInternalError
	}
	return e
}
