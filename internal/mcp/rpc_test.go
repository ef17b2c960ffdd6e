package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// envelope is a JSON-RPC message.
type envelope struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  jsontext.Value `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code       board.Code `json:"code"`
			RetryAfter int        `json:"retryAfter"`
		} `json:"data"`
	} `json:"error"`
}

// sent sends a body and returns the response, which must be a JSON-RPC message.
func (w *world) sent(body string, headers ...string) (apptest.RPCResponse, envelope) {
	w.T.Helper()
	r := httptest.NewRequest(http.MethodPost, apptest.BaseURL+board.MCPPath, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a := w.ada.Message(r)
	var e envelope
	if err := json.Unmarshal(a.Raw, &e); err != nil || e.Version != "2.0" || e.ID == nil ||
		(e.Result == nil) == (e.Error == nil) || a.Header.Get("Content-Type") != "application/json" {
		w.T.Errorf("%s: got status %d, body %s (%v)", body[:min(200, len(body))], a.Status, a.Raw, err)
	}
	return a, e
}

// Every error is a JSON-RPC message with the code that JSON-RPC defines for it.
func TestErrorsAreJSONRPCMessages(t *testing.T) {
	w := one(t, apptest.Options{})
	call := func(id, method string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method +
			`","params":{"name":"get_me","arguments":{},"level":"info","uri":"service://boards/x"}}`
	}
	for what, c := range map[string]struct {
		body         string
		status, code int
		id           string
	}{
		"nothing":                    {"", 400, -32700, "null"},
		"no JSON":                    {"hello", 400, -32700, "null"},
		"half a message":             {call("1", "ping")[:30], 400, -32700, "null"},
		"two messages":               {call("1", "ping") + call("2", "ping"), 400, -32700, "null"},
		"bad UTF-8":                  {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", 400, -32700, "null"},
		"a batch":                    {"[" + call("1", "ping") + "]", 400, -32600, "null"},
		"an empty batch":             {"[]", 400, -32600, "null"},
		"a number":                   {"7", 400, -32600, "null"},
		"no method":                  {`{"jsonrpc":"2.0","id":4}`, 400, -32600, "4"},
		"an invalid method":          {`{"jsonrpc":"2.0","id":4,"method":7}`, 400, -32600, "4"},
		"another version":            {`{"jsonrpc":"1.0","id":4,"method":"ping"}`, 400, -32600, "4"},
		"an invalid id":              {call("{}", "ping"), 400, -32600, "null"},
		"an id that is null":         {call("null", "ping"), 400, -32600, "null"},
		"no id":                      {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_me"}}`, 400, -32600, "null"},
		"no parameters":              {`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, 400, -32600, "5"},
		"an unknown method":          {call("6", "tools/destroy"), 200, -32601, "6"},
		"an unknown, with a text id": {call(`"a<b"`, "x\\u0001\\\"y"), 200, -32601, `"a\u003cb"`},
		"logging/setLevel":           {call("7", "logging/setLevel"), 200, -32601, "7"},
		"resources/subscribe":        {call("8", "resources/subscribe"), 200, -32601, "8"},
		"an unknown tool":            {strings.Replace(call("9", "tools/call"), "get_me", "make_coffee", 1), 200, -32602, "9"},
	} {
		for _, revision := range []string{"2025-11-25", "2025-06-18", "2025-03-26", ""} {
			headers := []string{"Mcp-Protocol-Version", revision}
			if revision == "" {
				headers = nil
			}
			if a, e := w.sent(c.body, headers...); e.Error == nil || a.Status != c.status || e.Error.Code != c.code ||
				string(e.ID) != c.id || e.Error.Message == "" {
				t.Errorf("%s in %q: want %d %d, got %d %s", what, revision, c.status, c.code, a.Status, a.Raw)
			}
		}
	}
	if a, e := w.sent(call("1", "tools/destroy"), "Mcp-Protocol-Version", apptest.Stateless); e.Error == nil ||
		a.Status != http.StatusNotFound || e.Error.Code != -32601 {
		t.Errorf("an unknown method in %s: got status %d, body %s", apptest.Stateless, a.Status, a.Raw)
	}
	for what, headers := range map[string][]string{
		"a response in HTML": {"Accept", "text/html"}, "an old revision": {"Mcp-Protocol-Version", "2024-11-05"},
		"text":         {"Content-Type", "text/plain"},
		"another site": {"Origin", "https://evil.example.com"}, "another token": {"Authorization", "Bearer cwl_wrong"},
		"too much": {"X-Filler", "x"},
	} {
		body := call("1", "ping")
		if what == "too much" {
			body += strings.Repeat(" ", 1<<20)
		}
		if a, e := w.sent(body, headers...); e.Error == nil || a.Status/100 != 4 || e.Error.Message == "" {
			t.Errorf("%s: got status %d, body %s", what, a.Status, a.Raw)
		}
	}
	if a := w.ada.Message(httptest.NewRequest(http.MethodPost, apptest.BaseURL+board.MCPPath,
		strings.NewReader(""))); a.Status != http.StatusUnsupportedMediaType {
		t.Errorf("no content type: got status %d, body %s; want 415", a.Status, a.Raw)
	}
}

// The id of a request is returned unchanged, even if JSON-RPC advises against such ids.
func TestIDsAreReturnedUnchanged(t *testing.T) {
	w := one(t, apptest.Options{})
	for _, id := range []string{"1", "0", "-7", "1.5", "1e3", "-0.0", "9007199254740993", "12345678901234567890123",
		"1e400", `""`, `"x"`, `"1.5"`, `"ü"`} {
		for method, params := range map[string]string{"ping": `{}`, "tools/list": `{}`,
			"tools/call": `{"name":"get_me","arguments":{}}`, "resources/read": `{"uri":"service://boards/` + w.board + `"}`} {
			for _, body := range []string{
				`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`,
				`{"method":"` + method + `","params":` + params + `, "id" : ` + id + ` ,"jsonrpc":"2.0"}`,
			} {
				if a, e := w.sent(body); string(e.ID) != id || e.Result == nil {
					t.Errorf("%s with the id %s: %d %s", method, id, a.Status, a.Raw[:min(300, len(a.Raw))])
				}
			}
		}
	}
}

// A rate-limited tool call tells the model when to try again. Other requests have the time in
// the error, and all responses have it in the header.
func TestRateLimitSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{RateLimits: true})
	s.Clock.Stop() // everything happens within one minute
	w := &world{Service: s, ada: s.Person("Ada")}
	workspace := w.ada.Workspace("Free", board.PlanFree)
	for w.ada.RPC(apptest.Sessions, "ping", fields{}).Status == http.StatusOK {
	}
	for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
		for name, in := range map[string]fields{"get_me": {}, "create_board": {"workspaceId": workspace, "name": "Late"},
			"search_cards": {"q": "x"}} {
			rpc := w.ada.RPC(revision, "tools/call", fields{"name": name, "arguments": in})
			a := w.ada.ToolOf(rpc)
			if rpc.Status != http.StatusOK || !a.Failed || a.Code != board.CodeRateLimited ||
				!strings.Contains(a.Text, "wait ") || rpc.Header.Get("Retry-After") == "" || rpc.Header.Get("Retry-After") == "0" {
				t.Errorf("%s in %s: got status %d, body %s %v", name, revision, rpc.Status, rpc.Raw, rpc.Header)
			}
			if after := rpc.Header.Get("Retry-After"); !strings.Contains(a.Text, "wait "+after+" s") ||
				!strings.Contains(string(rpc.Raw), `"retryAfter":`+after) {
				t.Errorf("the header says %s, the result %s", after, rpc.Raw)
			}
			if stateless := strings.Contains(string(rpc.Raw),
				`"resultType":"complete"`); stateless != (revision == apptest.Stateless) {
				t.Errorf("%s in %s: %s", name, revision, rpc.Raw)
			}
		}
	}
	for _, body := range []string{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x"}}`} {
		a, e := w.sent(body)
		if a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || e.Error == nil ||
			e.Error.Data.Code != board.CodeRateLimited || e.Error.Data.RetryAfter == 0 || !strings.Contains(body, string(e.ID)) {
			t.Errorf("%s: got status %d, body %s %v", body, a.Status, a.Raw, a.Header)
		}
	}
	for _, odd := range []string{"", "hello", strings.Repeat(" ", 1<<20),
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_me"}}`} {
		if a, e := w.sent(odd); a.Status != http.StatusTooManyRequests || e.Error == nil || string(e.ID) != "null" {
			t.Errorf("%d bytes: got status %d, body %s", len(odd), a.Status, a.Raw)
		}
	}
	s.Clock.Advance(61e9)
	if n := len(w.ada.All("list_boards", "id", fields{"limit": 200})); n != 0 {
		t.Errorf("rejected calls created %d boards, want 0", n)
	}
}
