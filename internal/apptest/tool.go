package apptest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// The revisions of the Model Context Protocol that the tests use.
const (
	Stateless = "2026-07-28"
	Sessions  = "2025-11-25"
)

// RPCResponse is the response of the MCP endpoint.
type RPCResponse struct {
	Status int
	Header http.Header
	Raw    []byte
	Result map[string]any // nil for an error
	Code   int            // code of a protocol error
	Reason string         // message of a protocol error
}

// RPC sends a message to the MCP endpoint in the given revision.
func (p *Person) RPC(revision, method string, params Fields) RPCResponse {
	p.T.Helper()
	return p.Message(p.RPCRequest(revision, method, params))
}

// RPCRequest creates the HTTP request that RPC sends.
func (p *Person) RPCRequest(revision, method string, params Fields) *http.Request {
	p.T.Helper()
	all := Fields{}
	for k, v := range params {
		all[k] = v
	}
	if revision == Stateless {
		all["_meta"] = Fields{
			"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": Fields{},
			"io.modelcontextprotocol/clientInfo": Fields{"name": "test", "version": "1"},
		}
	}
	body, err := json.Marshal(Fields{"jsonrpc": "2.0", "id": 1, "method": method, "params": all}, json.Deterministic(true))
	if err != nil {
		p.T.Fatalf("encode %s: %v", method, err)
	}
	r := httptest.NewRequest(http.MethodPost, BaseURL+board.MCPPath, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", revision)
	if revision == Stateless {
		r.Header.Set("Mcp-Method", method)
		for _, name := range []string{"name", "uri"} {
			if v, ok := params[name].(string); ok {
				r.Header.Set("Mcp-Name", v)
			}
		}
	}
	return r
}

// Message sends a request to the MCP endpoint. It adds the person's token unless the request has
// other credentials.
func (p *Person) Message(r *http.Request) RPCResponse {
	p.T.Helper()
	if p.Token != "" && r.Header.Get("Authorization") == "" && r.Header.Get("Cookie") == "" {
		r.Header.Set("Authorization", "Bearer "+p.Token)
	}
	w := httptest.NewRecorder()
	p.Handler.ServeHTTP(w, r)
	a := RPCResponse{Status: w.Code, Header: w.Header(), Raw: w.Body.Bytes()}
	var message struct {
		Result map[string]any `json:"result"`
		Error  jsontext.Value `json:"error"`
	}
	var failed struct {
		Code    any    `json:"code"` // a number, or a string in REST's error envelope
		Message string `json:"message"`
	}
	if json.Unmarshal(a.Raw, &message) == nil && message.Error != nil && json.Unmarshal(message.Error, &failed) == nil {
		a.Reason = failed.Message
		if code, ok := failed.Code.(float64); ok {
			a.Code = int(code)
		}
	}
	a.Result = message.Result
	return a
}

// ToolResponse is the result of a tool call. Data, Next, Version, Code and Message come from its
// structured content.
type ToolResponse struct {
	Response
	Text   string // of its content or, if that is empty, its structured content as JSON
	Failed bool   // isError
}

// Column returns a column of a table of cards.
func (a ToolResponse) Column(name string) (values []any) {
	a.t.Helper()
	table, _ := a.Data.(map[string]any)
	columns, _ := table["columns"].([]any)
	i := slices.Index(columns, any(name))
	rows, ok := table["rows"].([]any)
	if i < 0 || !ok {
		a.t.Fatalf("got %.300s, want a table with the column %s", a.Text, name)
	}
	for _, row := range rows {
		var value any
		if row := row.([]any); i < len(row) {
			value = row[i]
		}
		values = append(values, value)
	}
	return values
}

// Tool calls an operation by name over MCP, in the Stateless revision.
func (p *Person) Tool(name string, in Fields) ToolResponse {
	p.T.Helper()
	return p.ToolOf(p.RPC(Stateless, "tools/call", Fields{"name": name, "arguments": orEmpty(in)}))
}

// ToolOf reads the tool result from a response to tools/call.
func (p *Person) ToolOf(rpc RPCResponse) ToolResponse {
	p.T.Helper()
	if rpc.Result == nil {
		p.T.Fatalf("tools/call: got status %d, body %s; want a result", rpc.Status, rpc.Raw)
	}
	a := ToolResponse{Response: Response{t: p.T, Status: rpc.Status, Header: rpc.Header, Raw: rpc.Raw}}
	a.Failed, _ = rpc.Result["isError"].(bool)
	var text strings.Builder
	content, _ := rpc.Result["content"].([]any)
	for _, c := range content {
		part, _ := c.(map[string]any)["text"].(string)
		text.WriteString(part)
	}
	a.Text = text.String()
	structured, _ := rpc.Result["structuredContent"].(map[string]any)
	if len(content) == 0 {
		encoded, err := json.Marshal(structured, json.Deterministic(true))
		if err != nil {
			p.T.Fatal(err)
		}
		a.Text = string(encoded)
	}
	a.Data = structured["data"]
	if _, ok := structured["data"]; !ok && !a.Failed {
		p.T.Errorf("tools/call: got the structured content %v, want data", structured)
	}
	a.Next, _ = structured["nextCursor"].(string)
	if v, ok := structured["boardVersion"].(float64); ok {
		a.Version = int64(v)
	}
	if refusal, ok := structured["error"].(map[string]any); ok {
		code, _ := refusal["code"].(string)
		a.Code = board.Code(code)
		a.Message, _ = refusal["message"].(string)
	}
	return a
}

func orEmpty(in Fields) Fields {
	if in == nil {
		return Fields{}
	}
	return in
}
