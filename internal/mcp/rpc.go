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

// methods are those that the server declares, for the revisions before
// statelessVersion. For these the SDK also serves methods of capabilities that
// it was told not to declare.
var methods = []string{
	"initialize", "ping", "completion/complete", "prompts/get", "prompts/list", "resources/list", "resources/read", "resources/templates/list",
	"server/discover", "tools/call", "tools/list",
}

// message is what a message of JSON-RPC says of itself.
type message struct {
	id     jsontext.Value // as it was written; nil for none
	method string         // "" for a response
}

// rpcError is a refusal of the protocol.
type rpcError struct {
	status  int // of HTTP
	code    int64
	message string
	data    jsontext.Value // nil for none
}

func invalidMessage(text string) *rpcError {
	return &rpcError{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, message: text}
}

const maxID = 1000 // bytes of the id of a request

// readMessage reads the envelope of a message, or says why it is none. A batch is
// refused because each request counts against the limits.
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
		return m, invalidMessage("Invalid request: id must be a text or a number, of at most " + strconv.Itoa(maxID) + " bytes.")
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
		return m, invalidMessage("Invalid request: method must be a text.")
	}
	return m, nil
}

// unknownMethod refuses a method that the server does not declare. In
// statelessVersion the SDK does so, with a status of its own.
func (m message) unknownMethod(r *http.Request) *rpcError {
	version := r.Header.Get("Mcp-Protocol-Version")
	before := version == "" || version != statelessVersion && slices.Contains(versions, version)
	if !before || m.id == nil || m.method == "" || slices.Contains(methods, m.method) || strings.HasPrefix(m.method, "notifications/") {
		return nil
	}
	// With another status than 200 clients would not read the error.
	return &rpcError{status: http.StatusOK, code: jsonrpc.CodeMethodNotFound, message: "Method not found: this server has no method " + strconv.Quote(m.method) + "."}
}

// writeError writes a refusal of the protocol for the message with an id; nil for
// an id that is not known.
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
	_, _ = w.Write(body) // the reader may be gone
}

// serveSDK has the SDK respond to a message. Where it would refuse in plain text,
// the refusal is written as JSON-RPC. It reads numbers as whole ones, so another
// id stands in for one that it would change.
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
	_, _ = w.Write(out) // the reader may be gone
}

// response keeps what is written to it.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *response) Header() http.Header         { return r.header }
func (r *response) WriteHeader(status int)      { r.status = status }
func (r *response) Write(p []byte) (int, error) { return r.body.Write(p) }

// withID gives a message another id; what is no object with an id stays as it is.
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

// maxRefused is how much is read of a request that is refused for its rate.
const maxRefused = 64 << 10

// Refuse writes a refusal of a request at this endpoint, whose headers are set.
// Clients tell a model nothing of a status but 200, so the call of a tool that
// comes too often is responded to as other failures of tools are: with a result
// that says when to try again.
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

// refused is a refusal as an error of the protocol.
func refused(f *board.Fault, status int) *rpcError {
	out := refusal(f)
	var told struct {
		Error jsontext.Value `json:"error"`
	}
	e := &rpcError{status: status, code: codeRefused, message: string(out.text)}
	if err := json.Unmarshal(out.body, &told); err == nil {
		e.data = told.Error
	}
	switch f.Code {
	case board.CodeInvalidRequest:
		e.code = jsonrpc.CodeInvalidRequest
	case board.CodeInternal:
		e.code = jsonrpc.CodeInternalError
	}
	return e
}
