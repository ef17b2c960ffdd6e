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

// methods are the methods that the server supports in revisions before
// statelessVersion. In these revisions, the SDK would also serve methods that the
// server does not declare.
var methods = []string{
	"initialize", "ping", "completion/complete", "prompts/get", "prompts/list",
	"resources/list", "resources/read", "resources/templates/list",
	"server/discover", "tools/call", "tools/list",
}

// message is the envelope of a JSON-RPC message.
type message struct {
	id     jsontext.Value // exactly as sent; nil if missing
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

const maxID = 1000 // maximum length of an id in bytes

// readMessage parses the envelope of a message. It rejects batches, because each call
// must count against the rate limits.
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
		return m, invalidMessage("Invalid request: the body is not a JSON-RPC 2.0 message.")
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

// unknownMethod returns an error if the server does not support the method. In
// statelessVersion it returns nil, because the SDK rejects unknown methods itself,
// with a different HTTP status.
func (m message) unknownMethod(r *http.Request) *rpcError {
	version := r.Header.Get("Mcp-Protocol-Version")
	before := version == "" || version != statelessVersion && slices.Contains(versions, version)
	if !before || m.id == nil || m.method == "" || slices.Contains(methods, m.method) || strings.HasPrefix(m.method, "notifications/") {
		return nil
	}
	// The status is 200, because clients ignore errors with another status.
	return &rpcError{
		status: http.StatusOK, code: jsonrpc.CodeMethodNotFound,
		message: "Method not found: this server has no method " + strconv.Quote(m.method) + ".",
	}
}

// writeError writes a JSON-RPC error. If the id of the request is unknown, id is nil.
func writeError(w http.ResponseWriter, id jsontext.Value, e *rpcError) {
	b := []byte(`{"jsonrpc":"2.0","id":`)
	if id == nil {
		b = append(b, "null"...)
	} else {
		b = appendEscaped(b, id)
	}
	b = strconv.AppendInt(append(b, `,"error":{"code":`...), e.code, 10)
	b = appendText(append(b, `,"message":`...), stripHidden([]byte(e.message)))
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
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// serveSDK lets the SDK handle a message. It converts the SDK's plain-text errors to
// JSON-RPC errors. The SDK parses numeric ids as integers, so serveSDK replaces an id
// that the SDK would change and restores it in the response.
func (e *Endpoint) serveSDK(w http.ResponseWriter, r *http.Request, m message, body []byte) {
	replaced := m.id.Kind() == '0' && !isPlainID(m.id)
	if replaced {
		body = withID(body, jsontext.Value("0"))
	}
	r.Header.Set("Accept", "application/json, text/event-stream") // see onlyEvents
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response := &response{header: w.Header(), status: http.StatusOK}
	e.sdk.ServeHTTP(response, r)
	if e.writeChallenge(w, r, m.id) {
		return
	}
	if response.status >= http.StatusBadRequest && !isJSON(w.Header().Get("Content-Type")) {
		code := int64(jsonrpc.CodeInvalidRequest)
		if response.status >= http.StatusInternalServerError {
			code = jsonrpc.CodeInternalError
		}
		writeError(w, m.id, &rpcError{status: response.status, code: code, message: strings.TrimSpace(response.body.String())})
		return
	}
	out := response.body.Bytes()
	if problem := invalidParams(body, out); problem != nil {
		problem.status = response.status
		writeError(w, m.id, problem)
		return
	}
	if replaced {
		out = withID(out, m.id)
	}
	response.send(w, out)
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

// send sends the status with another body.
func (r *response) send(w http.ResponseWriter, body []byte) {
	if len(body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(body) // fails only if the client has disconnected
}

// withID returns a message with its id replaced. A message without an id is returned
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

// maxRefused is the maximum number of bytes that are read from a refused request.
const maxRefused = 64 << 10

// Refuse writes an error response. It implements rest.Refusal: the headers are already
// set. A rate-limited tool call gets a tool result with status 200 that says when to
// try again, because clients do not show responses with other statuses to the model.
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
		e.writeResult(w, m.id, isStateless(r), refusal(f))
		return
	}
	writeError(w, m.id, rpcErrorOf(f, status))
}

// rpcErrorOf converts a fault to a JSON-RPC error.
func rpcErrorOf(f *board.Fault, status int) *rpcError {
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
