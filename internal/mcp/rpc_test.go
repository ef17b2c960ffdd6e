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

// send sends a body. It returns the response, which must be a JSON-RPC message.
func (w *world) send(body string, headers ...string) (apptest.RPCResponse, envelope) {
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
		w.T.Errorf("%s: got status %d, body %s, error %v; want a JSON-RPC message", body[:min(200, len(body))], a.Status, a.Raw,
			err)
	}
	return a, e
}

// Every error is a JSON-RPC message with the code that JSON-RPC defines for it.
func TestErrorsAreJSONRPCMessages(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	call := func(id, method string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method +
			`","params":{"name":"get_me","arguments":{},"level":"info","uri":"service://boards/x"}}`
	}
	for what, c := range map[string]struct {
		body         string
		status, code int
		id           string
	}{
		"empty body":                    {"", 400, -32700, "null"},
		"not JSON":                      {"hello", 400, -32700, "null"},
		"truncated message":             {call("1", "ping")[:30], 400, -32700, "null"},
		"two messages":                  {call("1", "ping") + call("2", "ping"), 400, -32700, "null"},
		"invalid UTF-8":                 {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", 400, -32700, "null"},
		"batch":                         {"[" + call("1", "ping") + "]", 400, -32600, "null"},
		"empty batch":                   {"[]", 400, -32600, "null"},
		"number":                        {"7", 400, -32600, "null"},
		"no method":                     {`{"jsonrpc":"2.0","id":4}`, 400, -32600, "4"},
		"invalid method":                {`{"jsonrpc":"2.0","id":4,"method":7}`, 400, -32600, "4"},
		"another version":               {`{"jsonrpc":"1.0","id":4,"method":"ping"}`, 400, -32600, "4"},
		"invalid id":                    {call("{}", "ping"), 400, -32600, "null"},
		"null id":                       {call("null", "ping"), 400, -32600, "null"},
		"no id":                         {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_me"}}`, 400, -32600, "null"},
		"no parameters":                 {`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, 400, -32600, "5"},
		"unknown method":                {call("6", "tools/destroy"), 200, -32601, "6"},
		"unknown method with string id": {call(`"a<b"`, "x\\u0001\\\"y"), 200, -32601, `"a\u003cb"`},
		"logging/setLevel":              {call("7", "logging/setLevel"), 200, -32601, "7"},
		"resources/subscribe":           {call("8", "resources/subscribe"), 200, -32601, "8"},
		"unknown tool":                  {strings.Replace(call("9", "tools/call"), "get_me", "make_coffee", 1), 200, -32602, "9"},
	} {
		for _, revision := range []string{"2025-11-25", "2025-06-18", "2025-03-26", ""} {
			headers := []string{"Mcp-Protocol-Version", revision}
			if revision == "" {
				headers = nil
			}
			if a, e := w.send(c.body, headers...); e.Error == nil || a.Status != c.status || e.Error.Code != c.code ||
				string(e.ID) != c.id || e.Error.Message == "" {
				t.Errorf("%s in %q: got status %d, body %s; want %d with code %d and id %s", what, revision, a.Status, a.Raw, c.status,
					c.code, c.id)
			}
		}
	}
	if a, e := w.send(call("1", "tools/destroy"), "Mcp-Protocol-Version", apptest.Stateless); e.Error == nil ||
		a.Status != http.StatusNotFound || e.Error.Code != -32601 {
		t.Errorf("unknown method in %s: got status %d, body %s; want 404", apptest.Stateless, a.Status, a.Raw)
	}
	for what, headers := range map[string][]string{
		"unsupported revision": {"Mcp-Protocol-Version", "2024-11-05"},
		"text":                 {"Content-Type", "text/plain"},
		"another site":         {"Origin", "https://evil.example.com"}, "another token": {"Authorization", "Bearer cwl_wrong"},
		"body over 1 MiB": {"X-Filler", "x"},
	} {
		body := call("1", "ping")
		if what == "body over 1 MiB" {
			body += strings.Repeat(" ", 1<<20)
		}
		if a, e := w.send(body, headers...); e.Error == nil || a.Status/100 != 4 || e.Error.Message == "" {
			t.Errorf("%s: got status %d, body %s; want 4xx with an error", what, a.Status, a.Raw)
		}
	}
	if a := w.ada.Message(httptest.NewRequest(http.MethodPost, apptest.BaseURL+board.MCPPath,
		strings.NewReader(""))); a.Status != http.StatusUnsupportedMediaType {
		t.Errorf("no content type: got status %d, body %s; want 415", a.Status, a.Raw)
	}
}

// Params that cannot be decoded are named, without the words of the SDK and its language.
func TestInvalidParamsAreNamed(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	const prompt = `"ref":{"type":"ref/prompt","name":"plan"}`
	object, text := " must be an object.", " must be a string."
	for params, want := range map[string]struct{ methods, message string }{
		`[]`:   {"*", "params" + object},
		`5`:    {"*", "params" + object},
		`"x"`:  {"*", "params" + object},
		`true`: {"*", "params" + object},
		`{"_meta":5,"protocolVersion":"2025-11-25","uri":"x","name":"x",` + prompt + `}`: {"*", "params._meta" + object},
		`{"cursor":5}`:                            {"prompts/list resources/list resources/templates/list tools/list", "params.cursor" + text},
		`{"cursor":"x"}`:                          {"prompts/list", "params.cursor must be a nextCursor that this server returned."},
		`{"name":[]}`:                             {"prompts/get tools/call", "params.name" + text},
		`{"name":"plan","arguments":5}`:           {"prompts/get", "params.arguments" + object},
		`{"uri":{}}`:                              {"resources/read", "params.uri" + text},
		`{"ref":"plan"}`:                          {"completion/complete", "params.ref" + object},
		`{"ref":{"type":7}}`:                      {"completion/complete", "params.ref.type" + text},
		`{"ref":{"type":"x"}}`:                    {"completion/complete", "params.ref.type must be ref/prompt or ref/resource."},
		`{` + prompt + `,"argument":5}`:           {"completion/complete", "params.argument" + object},
		`{` + prompt + `,"argument":{"value":5}}`: {"completion/complete", "params.argument.value" + text},
		`{` + prompt + `,"context":{"arguments":{"` + strings.Repeat("x", 100) + `":5}}}`: {
			"completion/complete", "params.context.arguments." + strings.Repeat("x", 39) + "…" + text},
		`null`:                  {"initialize", "params is required."},
		`{"protocolVersion":5}`: {"initialize", "params.protocolVersion" + text},
		`{"protocolVersion":"1","capabilities":5}`: {"initialize", "params.capabilities" + object},
		`{"protocolVersion":"1","clientInfo":5}`:   {"initialize", "params.clientInfo" + object},
	} {
		methods := strings.Fields(want.methods)
		if want.methods == "*" {
			methods = []string{"initialize", "ping", "completion/complete", "prompts/get", "prompts/list", "resources/list",
				"resources/read", "resources/templates/list", "tools/call", "tools/list"}
		}
		for _, method := range methods {
			a, e := w.send(`{"jsonrpc":"2.0","id":1.5,"method":"` + method + `","params":` + params + `}`)
			if e.Error == nil || a.Status != http.StatusOK || e.Error.Code != -32602 || string(e.ID) != "1.5" ||
				e.Error.Message != "Invalid params: "+want.message {
				t.Errorf("%s %s: got status %d, body %s; want %q", method, params, a.Status, a.Raw, want.message)
			}
		}
	}
}

// The id of a request is returned unchanged, even an id that JSON-RPC discourages.
func TestIDsAreReturnedUnchanged(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	for _, id := range []string{"1", "0", "-7", "1.5", "1e3", "-0.0", "9007199254740993", "12345678901234567890123",
		"1e400", `""`, `"x"`, `"1.5"`, `"ü"`} {
		for method, params := range map[string]string{"ping": `{}`, "tools/list": `{}`,
			"tools/call": `{"name":"get_me","arguments":{}}`, "resources/read": `{"uri":"service://boards/` + w.board + `"}`} {
			for _, body := range []string{
				`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`,
				`{"method":"` + method + `","params":` + params + `, "id" : ` + id + ` ,"jsonrpc":"2.0"}`,
			} {
				if a, e := w.send(body); string(e.ID) != id || e.Result == nil {
					t.Errorf("%s: got status %d, body %s; want the id %s", method, a.Status, a.Raw[:min(300, len(a.Raw))], id)
				}
			}
		}
	}
}

// The result of a rate-limited tool call says how long to wait. The errors of other requests say
// the same, and all these responses have a Retry-After header.
func TestRateLimitGivesTheRetryTime(t *testing.T) {
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
				t.Errorf("%s in %s: got status %d, body %s, headers %v; want 200 with rate_limited", name, revision, rpc.Status, rpc.Raw,
					rpc.Header)
			}
			if after := rpc.Header.Get("Retry-After"); !strings.Contains(a.Text, "wait "+after+" s") ||
				!strings.Contains(string(rpc.Raw), `"retryAfterSeconds":`+after+`,"retryAfter":`+after) {
				t.Errorf("got %s, want the same time as in Retry-After: %s", rpc.Raw, after)
			}
			if stateless := strings.Contains(string(rpc.Raw),
				`"resultType":"complete"`); stateless != (revision == apptest.Stateless) {
				t.Errorf("%s in %s: got %s, want resultType only in %s", name, revision, rpc.Raw, apptest.Stateless)
			}
		}
	}
	for _, body := range []string{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x"}}`} {
		a, e := w.send(body)
		if a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || e.Error == nil ||
			e.Error.Data.Code != board.CodeRateLimited || e.Error.Data.RetryAfter == 0 || !strings.Contains(body, string(e.ID)) {
			t.Errorf("%s: got status %d, body %s, headers %v; want 429 with the waiting time and the id", body, a.Status, a.Raw, a.Header)
		}
	}
	for _, body := range []string{"", "hello", strings.Repeat(" ", 1<<20),
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_me"}}`} {
		if a, e := w.send(body); a.Status != http.StatusTooManyRequests || e.Error == nil || string(e.ID) != "null" {
			t.Errorf("body of %d bytes: got status %d, body %s; want 429 with the id null", len(body), a.Status, a.Raw)
		}
	}
	s.Clock.Advance(61e9)
	if n := len(w.ada.All("list_boards", "id", fields{"limit": 200})); n != 0 {
		t.Errorf("after refused calls: got %d boards, want 0", n)
	}
}
