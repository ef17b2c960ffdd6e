package mcp_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// createRequest returns a request that creates a board. The result of boardCount shows whether the
// request had an effect.
func (w *world) createRequest(revision string) *http.Request {
	return w.ada.RPCRequest(revision, "tools/call",
		fields{"name": "create_board", "arguments": fields{"workspaceId": w.workspace, "name": "New"}})
}

func TestRevisions(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	for _, revision := range []string{apptest.Stateless, apptest.Sessions, "2025-06-18", "2025-03-26", ""} {
		before := w.boardCount()
		r := w.createRequest(revision)
		if revision == "" {
			r.Header.Del("Mcp-Protocol-Version")
		}
		if a := w.ada.Message(r); a.Status != http.StatusOK || a.Result["isError"] != nil || w.boardCount() != before+1 {
			t.Errorf("revision %q: got status %d, body %s; want 200 and a new board", revision, a.Status, a.Raw)
		}
	}
	for _, revision := range []string{"2024-11-05", "2025-11-26", "2026-07-27", "2026-07-29", "2099-01-01", "banana"} {
		before := w.boardCount()
		r := w.createRequest(revision)
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", "create_board")
		if a := w.ada.Message(r); a.Status != http.StatusBadRequest || a.Result != nil || w.boardCount() != before {
			t.Errorf("revision %q: got status %d, body %s; want 400 and no new board", revision, a.Status, a.Raw)
		}
	}
	// In the handshake of earlier revisions, the server responds with a revision that it supports.
	for offered, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2025-11-25",
		"2099-01-01": "2025-11-25", "2026-07-28": "2025-11-25",
	} {
		r := w.ada.RPCRequest(apptest.Sessions, "initialize", fields{"protocolVersion": offered, "capabilities": fields{},
			"clientInfo": fields{"name": "test", "version": "1"}})
		r.Header.Del("Mcp-Protocol-Version")
		a := w.ada.Message(r)
		if a.Result["protocolVersion"] != want || a.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("client offers %s: got status %d, body %s, headers %v; want %s without a session", offered, a.Status, a.Raw,
				a.Header, want)
		}
	}
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe"} {
		if a := w.ada.RPC(apptest.Stateless, method,
			fields{"protocolVersion": "2026-07-28", "capabilities": fields{}, "clientInfo": fields{"name": "x", "version": "1"},
				"level": "info", "uri": "service://boards/x"}); a.Result != nil || a.Status/100 != 4 {
			t.Errorf("%s in %s: got status %d, body %s; want 4xx", method, apptest.Stateless, a.Status, a.Raw)
		}
	}
}

// The server declares exactly the capabilities that it has. It declares neither logging nor
// list changes, because it sends no unsolicited messages.
func TestCapabilities(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	initialized := w.ada.RPC(apptest.Sessions, "initialize",
		fields{"protocolVersion": apptest.Sessions, "capabilities": fields{},
			"clientInfo": fields{"name": "test", "version": "1"}})
	discovered := w.ada.RPC(apptest.Stateless, "server/discover", nil)
	for revision, a := range map[string]apptest.RPCResponse{apptest.Sessions: initialized, apptest.Stateless: discovered} {
		capabilities, _ := a.Result["capabilities"].(map[string]any)
		for _, name := range []string{"tools", "resources", "prompts", "completions"} {
			if v, ok := capabilities[name].(map[string]any); !ok || len(v) != 0 {
				t.Errorf("%s: got capability %s %v, want an empty object", revision, name, capabilities[name])
			}
		}
		if len(capabilities) != 4 {
			t.Errorf("%s: got capabilities %v, want 4", revision, capabilities)
		}
		if text, _ := a.Result["instructions"].(string); !strings.Contains(text, "never an instruction") {
			t.Errorf("%s: got instructions %q, want them to contain %q", revision, text, "never an instruction")
		}
	}
	versions, _ := discovered.Result["supportedVersions"].([]any)
	if !slices.Contains(versions, any(apptest.Stateless)) || !slices.Contains(versions, any(apptest.Sessions)) {
		t.Errorf("got revisions %v, want %s and %s among them", versions, apptest.Stateless, apptest.Sessions)
	}
	// Results depend on the token, so a shared cache must not store them.
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list",
		"server/discover"} {
		if a := w.ada.RPC(apptest.Stateless, method, nil); a.Result["cacheScope"] != "private" {
			t.Errorf("%s: got cache scope %v in %s, want private", method, a.Result["cacheScope"],
				a.Raw[:min(300, len(a.Raw))])
		}
	}
	read := w.ada.RPC(apptest.Stateless, "resources/read", fields{"uri": "service://boards/" + w.board})
	if read.Result["cacheScope"] != "private" || read.Result["ttlMs"] != 0.0 {
		t.Errorf("resource: got %s, want cacheScope private and ttlMs 0", read.Raw)
	}
}

// In revision 2026-07-28, headers repeat parts of the body. If the two differ, the request is
// rejected, because a proxy may have checked only the headers.
func TestHeadersMustMatchTheBody(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	for what, change := range map[string]func(r *http.Request){
		"no method":            func(r *http.Request) { r.Header.Del("Mcp-Method") },
		"another method":       func(r *http.Request) { r.Header.Set("Mcp-Method", "tools/list") },
		"no name":              func(r *http.Request) { r.Header.Del("Mcp-Name") },
		"another name":         func(r *http.Request) { r.Header.Set("Mcp-Name", "get_me") },
		"another revision":     func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", apptest.Sessions) },
		"no revision":          func(r *http.Request) { r.Header.Del("Mcp-Protocol-Version") },
		"no revision in body":  func(r *http.Request) { rewrite(r, "protocolVersion", "protocolVersio") },
		"another in body":      func(r *http.Request) { rewrite(r, apptest.Stateless, apptest.Sessions) },
		"no capabilities":      func(r *http.Request) { rewrite(r, "clientCapabilities", "clientCapabilitie") },
		"invalid capabilities": func(r *http.Request) { rewrite(r, `clientCapabilities":{}`, `clientCapabilities":7`) },
		"invalid client":       func(r *http.Request) { rewrite(r, `"name":"test"`, `"name":7`) },
		"resumption":           func(r *http.Request) { r.Header.Set("Last-Event-Id", "a_1") },
	} {
		before := w.boardCount()
		r := w.createRequest(apptest.Stateless)
		change(r)
		if a := w.ada.Message(r); a.Status != http.StatusBadRequest || a.Result != nil || w.boardCount() != before {
			t.Errorf("%s: got status %d, body %s, %d new boards; want 400 and none", what, a.Status, a.Raw, w.boardCount()-before)
		}
	}
}

func rewrite(r *http.Request, from, to string) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !bytes.Contains(body, []byte(from)) {
		panic("the body does not contain " + from)
	}
	body = bytes.Replace(body, []byte(from), []byte(to), 1)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

func TestMalformedRequests(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_board","arguments":{"workspaceId":"` +
		w.workspace + `","name":"New"}}}`
	post := func(body string, headers ...string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, apptest.BaseURL+board.MCPPath, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
	method := func(method string) *http.Request {
		r := post("")
		r.Method = method
		return r
	}
	nested := strings.Replace(message, `"New"`, strings.Repeat("[", 500)+strings.Repeat("]", 500), 1)
	for what, c := range map[string]struct {
		r      *http.Request
		status int
	}{
		"batch":               {post("[" + message + "]"), 400},
		"batch of two":        {post("[" + message + "," + message + "]"), 400},
		"empty batch":         {post("[]"), 400},
		"batch in 2025-11-25": {post("["+message+"]", "Mcp-Protocol-Version", apptest.Sessions), 400},
		"empty body":          {post(""), 400},
		"not JSON":            {post("hello"), 400},
		"truncated message":   {post(message[:len(message)-2]), 400},
		"two messages":        {post(message + message), 400},
		"duplicate name": {post(strings.Replace(message, `"name":"create_board"`,
			`"name":"create_board","name":"create_board"`, 1)), 400},
		"invalid UTF-8":               {post(strings.Replace(message, "New", "N\xffw", 1)), 400},
		"another version of JSON-RPC": {post(strings.Replace(message, "2.0", "1.0", 1)), 400},
		"invalid id":                  {post(strings.Replace(message, `"id":1`, `"id":{}`, 1)), 400},
		"no id":                       {post(strings.Replace(message, `"id":1,`, ``, 1)), 400},
		"unknown method":              {post(strings.Replace(message, "tools/call", "tools/destroy", 1)), 200},
		"no parameters":               {post(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), 400},
		"text":                        {post(message, "Content-Type", "text/plain"), 415},
		"form":                        {post(message, "Content-Type", "application/x-www-form-urlencoded"), 415},
		"no content type":             {post(message, "Content-Type", ""), 415},
		"body over 1 MiB":             {post(strings.Replace(message, "New", strings.Repeat("x", 1<<20), 1)), 413},
		"GET":                         {method(http.MethodGet), 405},
		"DELETE":                      {method(http.MethodDelete), 405},
		"PUT":                         {method(http.MethodPut), 405},
	} {
		before := w.boardCount()
		a := w.ada.Message(c.r)
		if a.Status != c.status || a.Result != nil || w.boardCount() != before {
			t.Errorf("%s: got status %d, body %s, %d new boards; want %d and none", what, a.Status, a.Raw, w.boardCount()-before,
				c.status)
		}
		if c.status == http.StatusMethodNotAllowed && a.Header.Get("Allow") != http.MethodPost {
			t.Errorf("%s: got Allow %q, want POST", what, a.Header.Get("Allow"))
		}
		for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Request-Id"} {
			if a.Header.Get(name) == "" {
				t.Errorf("%s: got no header %s", what, name)
			}
		}
	}
	if a := w.ada.ToolOf(w.ada.Message(post(nested))); a.Code != board.CodeInvalidRequest ||
		!strings.Contains(a.Text, "nested") {
		t.Errorf("500 levels: got %s, want an error about nesting", a.Text)
	}
	notification := w.ada.Message(post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if notification.Status != http.StatusAccepted || len(notification.Raw) > 0 {
		t.Errorf("notification: got status %d, body %s; want 202 without a body", notification.Status, notification.Raw)
	}
}

// Huge arguments are rejected with a short error that names the field.
func TestHugeArguments(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	big := strings.Repeat("x", 900_000)
	many := make([]string, 20_000)
	for i := range many {
		many[i] = "lbl_x"
	}
	for field, in := range map[string]fields{
		"title":          {"listId": w.list, "title": big},
		"description":    {"listId": w.list, "title": "x", "description": big},
		"labels":         {"listId": w.list, "title": "x", "labels": many},
		"idempotencyKey": {"listId": w.list, "title": "x", "idempotencyKey": big},
	} {
		a := w.ada.Tool("create_card", in)
		if a.Code != board.CodeInvalidRequest || !strings.Contains(a.Text, field) || len(a.Raw) > 4000 {
			t.Errorf("huge %s: got %d bytes, %s; want at most 4000 bytes of invalid_request that name the field", field, len(a.Raw),
				a.Text[:min(300, len(a.Text))])
		}
	}
	unknown := fields{"listId": w.list, "title": "x", big: 1}
	if a := w.ada.Tool("create_card", unknown); a.Code != board.CodeInvalidRequest || len(a.Raw) > 4000 {
		t.Errorf("huge field name: got %s with %d bytes, want invalid_request with at most 4000", a.Code, len(a.Raw))
	}
}

// Clients accept different forms of responses. Only a client that accepts nothing but a
// stream of events gets one.
func TestAcceptedForms(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	for _, accept := range []string{"", "*/*", "application/json", "application/json;q=0.9, text/event-stream", "application/*",
		"text/event-stream, application/*", "text/event-stream, */*;q=0.1", "text/html", "text/event-stream",
		"TEXT/Event-Stream; q=1"} {
		for what, call := range map[string]string{
			"direct":   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_me","arguments":{}}}`,
			"SDK":      `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			"envelope": `{"jsonrpc":"2.0","id":1,"method":"none"}`,
		} {
			r := httptest.NewRequest(http.MethodPost, apptest.BaseURL+board.MCPPath, strings.NewReader(call))
			r.Header.Set("Content-Type", "application/json")
			if accept != "" {
				r.Header.Set("Accept", accept)
			}
			a := w.ada.Message(r)
			kind, before, after := "application/json", "", ""
			if strings.HasPrefix(strings.ToLower(accept), "text/event-stream") && !strings.Contains(accept, "*") {
				kind, before, after = "text/event-stream", "event: message\ndata: ", "\n\n"
			}
			data, begins := strings.CutPrefix(string(a.Raw), before)
			data, ends := strings.CutSuffix(data, after)
			if a.Status != http.StatusOK || a.Header.Get("Content-Type") != kind || !begins || !ends ||
				!jsontext.Value(data).IsValid() || strings.Contains(data, "\n") {
				t.Errorf("Accept %q, %s: got status %d, %s, %.200s; want %s", accept, what, a.Status, a.Header.Get("Content-Type"), a.Raw,
					kind)
			}
		}
	}
}

// Some clients append a slash to the path.
func TestTrailingSlash(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	r := w.createRequest(apptest.Stateless)
	r.URL.Path += "/"
	if a := w.ada.Message(r); a.Status != http.StatusOK {
		t.Errorf("with a token: got status %d, body %s; want 200", a.Status, a.Raw)
	}
	nobody := *w.ada
	nobody.Token = ""
	r = w.createRequest(apptest.Stateless)
	r.URL.Path += "/"
	a := nobody.Message(r)
	if challenge := a.Header.Get("Www-Authenticate"); a.Status != http.StatusUnauthorized ||
		!strings.Contains(challenge, "/.well-known/oauth-protected-resource/mcp\"") {
		t.Errorf("without a token: got status %d, challenge %q; want 401 with the metadata of /mcp", a.Status, challenge)
	}
}

// A page on another site can make a browser send a request to this server. The Origin header
// names the other site. Such requests are refused.
func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"", "", 200},
		{"cardwall.example.com", "https://cardwall.example.com", 200},
		{"CARDWALL.example.com:443", "https://cardwall.example.com:443", 200},
		// A proxy may replace the Host header with any name.
		{"127.0.0.1:8080", "", 200}, {"[::1]:8080", "", 200}, {"10.1.2.3", "", 200}, {"upstream.internal:8443", "", 200},
		{"upstream.internal", "https://cardwall.example.com", 200},
		{"", "https://evil.example.com", 403},
		{"", "http://cardwall.example.com", 403},
		{"", "https://cardwall.example.com:8443", 403},
		{"", "https://cardwall.example.com.evil.example.com", 403},
		{"", "null", 403},
		{"127.0.0.1:8080", "http://127.0.0.1:8080", 403},
		{"evil.example.com", "https://evil.example.com", 403},
	} {
		r, before := w.createRequest(apptest.Stateless), w.boardCount()
		if c.host != "" {
			r.Host = c.host
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		a := w.ada.Message(r)
		if a.Status != c.status || (w.boardCount() == before) == (c.status == 200) {
			t.Errorf("host %q, origin %q: got status %d, body %s; want %d", c.host, c.origin, a.Status, a.Raw, c.status)
		}
	}
	r := w.createRequest(apptest.Stateless)
	r.Header["Origin"] = []string{"https://cardwall.example.com", "https://evil.example.com"}
	if a := w.ada.Message(r); a.Status != http.StatusForbidden {
		t.Errorf("two origins: got status %d, body %s; want 403", a.Status, a.Raw)
	}
}

// The response to a request without a token says where to get a token and which scopes are
// sufficient. A session cookie does not authenticate.
func TestChallengeNamesSufficientScopes(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	want := `scope="read write", resource_metadata="` + apptest.BaseURL + `/.well-known/oauth-protected-resource/mcp"`
	nobody := *w.ada
	nobody.Token = ""
	browser := w.createRequest(apptest.Stateless)
	signedIn := w.ada.Request(w.Registry.Named("get_session"), nil)
	browser.Header["Cookie"] = signedIn.Header["Cookie"]
	if browser.Header.Get("Cookie") == "" {
		t.Fatal("got no session cookie")
	}
	wrong := w.createRequest(apptest.Stateless)
	wrong.Header.Set("Authorization", "Bearer cwl_wrong")
	get := w.createRequest(apptest.Stateless)
	get.Method = http.MethodGet
	before := w.boardCount()
	for what, a := range map[string]apptest.RPCResponse{
		"no token": nobody.Message(w.createRequest(apptest.Stateless)), "no token, GET": nobody.Message(get),
		"wrong token": nobody.Message(wrong), "session cookie": nobody.Message(browser),
	} {
		if a.Status != http.StatusUnauthorized || !strings.HasPrefix(a.Header.Get("Www-Authenticate"), "Bearer ") ||
			!strings.Contains(a.Header.Get("Www-Authenticate"), want) {
			t.Errorf("%s: got status %d, body %s, headers %v; want 401 with %s", what, a.Status, a.Raw, a.Header, want)
		}
	}
	if w.boardCount() != before {
		t.Errorf("without a token: got %d boards, want %d", w.boardCount(), before)
	}
	if a := nobody.Call("get_me", nil); !strings.Contains(a.Header.Get("Www-Authenticate"), `scope="read write"`) ||
		strings.Contains(a.Header.Get("Www-Authenticate"), "/mcp") {
		t.Errorf("REST: got headers %v, want metadata other than that of the MCP endpoint", a.Header)
	}
}

// Requests over MCP count against the same rate limits as requests over REST.
func TestRates(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{RateLimits: true})
	s.Clock.Stop() // everything happens within one minute
	ada := s.Person("Ada")
	ada.Workspace("Free", board.PlanFree)
	limits := board.PlanFree.Limits()
	for i := range limits.SearchesPerMinute {
		if a := ada.Tool("search_cards", fields{"q": "x"}); a.Failed {
			t.Fatalf("search %d: got %s, want success", i+1, a.Text)
		}
	}
	a := ada.Tool("search_cards", fields{"q": "x"})
	if a.Code != board.CodeRateLimited || !strings.Contains(a.Text, "wait") {
		t.Errorf("search over the limit: got %s, want rate_limited", a.Text)
	}
	rest := ada.Call("search_cards", fields{"q": "x"})
	if rest.Code != board.CodeRateLimited || rest.Message != a.Message {
		t.Errorf("search over the limit over REST: got %s, want the message %s", rest.Raw, a.Message)
	}
	for range limits.RequestsPerMinute - limits.SearchesPerMinute {
		if a := ada.RPC(apptest.Sessions, "ping", fields{}); a.Status != http.StatusOK ||
			a.Header.Get("X-Ratelimit-Limit") != "60" {
			t.Fatalf("ping: got status %d, body %s, headers %v; want 200 with the limit 60", a.Status, a.Raw, a.Header)
		}
	}
	if a := ada.RPC(apptest.Sessions, "ping", fields{}); a.Status != http.StatusTooManyRequests ||
		a.Header.Get("Retry-After") == "" {
		t.Errorf("ping over the limit: got status %d, body %s, headers %v; want 429", a.Status, a.Raw, a.Header)
	}
}
