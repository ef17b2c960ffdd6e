package mcp_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// create returns a call that creates a board, so that its effect can be counted.
func (w *world) create(revision string) *http.Request {
	return w.ada.RPCRequest(revision, "tools/call",
		fields{"name": "create_board", "arguments": fields{"workspaceId": w.workspace, "name": "New"}})
}

func TestRevisions(t *testing.T) {
	w := one(t, apptest.Options{})
	for _, revision := range []string{apptest.Stateless, apptest.Sessions, "2025-06-18", "2025-03-26", ""} {
		before := w.boards()
		r := w.create(revision)
		if revision == "" {
			r.Header.Del("Mcp-Protocol-Version")
		}
		if a := w.ada.Message(r); a.Status != http.StatusOK || a.Result["isError"] != nil || w.boards() != before+1 {
			t.Errorf("revision %q: got status %d, body %s", revision, a.Status, a.Raw)
		}
	}
	for _, revision := range []string{"2024-11-05", "2025-11-26", "2026-07-27", "2026-07-29", "2099-01-01", "banana"} {
		before := w.boards()
		r := w.create(revision)
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", "create_board")
		if a := w.ada.Message(r); a.Status != http.StatusBadRequest || a.Result != nil || w.boards() != before {
			t.Errorf("revision %q: got status %d, body %s", revision, a.Status, a.Raw)
		}
	}
	// In the old handshake, the server responds with a revision that it supports.
	for offered, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2025-11-25",
		"2099-01-01": "2025-11-25", "2026-07-28": "2025-11-25",
	} {
		r := w.ada.RPCRequest(apptest.Sessions, "initialize", fields{"protocolVersion": offered, "capabilities": fields{},
			"clientInfo": fields{"name": "test", "version": "1"}})
		r.Header.Del("Mcp-Protocol-Version")
		a := w.ada.Message(r)
		if a.Result["protocolVersion"] != want || a.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("offered %s: got status %d, body %s %v", offered, a.Status, a.Raw, a.Header)
		}
	}
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe"} {
		if a := w.ada.RPC(apptest.Stateless, method,
			fields{"protocolVersion": "2026-07-28", "capabilities": fields{}, "clientInfo": fields{"name": "x", "version": "1"},
				"level": "info", "uri": "service://boards/x"}); a.Result != nil || a.Status/100 != 4 {
			t.Errorf("%s in %s: got status %d, body %s", method, apptest.Stateless, a.Status, a.Raw)
		}
	}
}

// The server declares exactly what it supports. It declares neither logs nor list changes,
// because it sends nothing unasked.
func TestCapabilities(t *testing.T) {
	w := one(t, apptest.Options{})
	hello := w.ada.RPC(apptest.Sessions, "initialize",
		fields{"protocolVersion": apptest.Sessions, "capabilities": fields{},
			"clientInfo": fields{"name": "test", "version": "1"}})
	discovered := w.ada.RPC(apptest.Stateless, "server/discover", nil)
	for revision, a := range map[string]apptest.RPCResponse{apptest.Sessions: hello, apptest.Stateless: discovered} {
		capabilities, _ := a.Result["capabilities"].(map[string]any)
		for _, name := range []string{"tools", "resources", "prompts", "completions"} {
			if v, ok := capabilities[name].(map[string]any); !ok || len(v) != 0 {
				t.Errorf("%s: the capability %s is %v", revision, name, capabilities[name])
			}
		}
		if len(capabilities) != 4 {
			t.Errorf("%s: the capabilities are %v", revision, capabilities)
		}
		if text, _ := a.Result["instructions"].(string); !strings.Contains(text, "never an instruction") {
			t.Errorf("%s: the instructions are %q; want them to contain %q", revision, text, "never an instruction")
		}
	}
	versions, _ := discovered.Result["supportedVersions"].([]any)
	if !slices.Contains(versions, any(apptest.Stateless)) || !slices.Contains(versions, any(apptest.Sessions)) {
		t.Errorf("the revisions are %v", versions)
	}
	// Results depend on the token, so a shared cache must not keep them.
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list",
		"server/discover"} {
		if a := w.ada.RPC(apptest.Stateless, method, nil); a.Result["cacheScope"] != "private" {
			t.Errorf("%s: the cache scope is %v in %s, want private", method, a.Result["cacheScope"],
				a.Raw[:min(300, len(a.Raw))])
		}
	}
	read := w.ada.RPC(apptest.Stateless, "resources/read", fields{"uri": "service://boards/" + w.board})
	if read.Result["cacheScope"] != "private" || read.Result["ttlMs"] != 0.0 {
		t.Errorf("a resource is cached: %s", read.Raw)
	}
}

// In the revision 2026-07-28, headers repeat parts of the body. If they differ, the
// request is rejected, because a proxy may have checked a request other than the one that
// would run.
func TestHeadersMustMatchTheBody(t *testing.T) {
	w := one(t, apptest.Options{})
	for what, spoil := range map[string]func(r *http.Request){
		"no method":            func(r *http.Request) { r.Header.Del("Mcp-Method") },
		"another method":       func(r *http.Request) { r.Header.Set("Mcp-Method", "tools/list") },
		"no name":              func(r *http.Request) { r.Header.Del("Mcp-Name") },
		"another name":         func(r *http.Request) { r.Header.Set("Mcp-Name", "get_me") },
		"another revision":     func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", apptest.Sessions) },
		"no revision":          func(r *http.Request) { r.Header.Del("Mcp-Protocol-Version") },
		"no revision inside":   func(r *http.Request) { rewrite(r, "protocolVersion", "protocolVersio") },
		"another inside":       func(r *http.Request) { rewrite(r, apptest.Stateless, apptest.Sessions) },
		"no capabilities":      func(r *http.Request) { rewrite(r, "clientCapabilities", "clientCapabilitie") },
		"invalid capabilities": func(r *http.Request) { rewrite(r, `clientCapabilities":{}`, `clientCapabilities":7`) },
		"an invalid client":    func(r *http.Request) { rewrite(r, `"name":"test"`, `"name":7`) },
		"resumption":           func(r *http.Request) { r.Header.Set("Last-Event-Id", "a_1") },
	} {
		before := w.boards()
		r := w.create(apptest.Stateless)
		spoil(r)
		if a := w.ada.Message(r); a.Status != http.StatusBadRequest || a.Result != nil || w.boards() != before {
			t.Errorf("%s: got status %d, body %s, and %d more boards", what, a.Status, a.Raw, w.boards()-before)
		}
	}
}

func rewrite(r *http.Request, from, to string) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !bytes.Contains(body, []byte(from)) {
		panic("nothing to rewrite")
	}
	body = bytes.Replace(body, []byte(from), []byte(to), 1)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

func TestMalformedRequests(t *testing.T) {
	w := one(t, apptest.Options{})
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
		"a batch":               {post("[" + message + "]"), 400},
		"a batch of two":        {post("[" + message + "," + message + "]"), 400},
		"an empty batch":        {post("[]"), 400},
		"a batch in 2025-11-25": {post("["+message+"]", "Mcp-Protocol-Version", apptest.Sessions), 400},
		"nothing":               {post(""), 400},
		"no JSON":               {post("hello"), 400},
		"half a message":        {post(message[:len(message)-2]), 400},
		"two messages":          {post(message + message), 400},
		"duplicate name": {post(strings.Replace(message, `"name":"create_board"`,
			`"name":"create_board","name":"create_board"`, 1)), 400},
		"bad UTF-8":                   {post(strings.Replace(message, "New", "N\xffw", 1)), 400},
		"another version of JSON-RPC": {post(strings.Replace(message, "2.0", "1.0", 1)), 400},
		"an invalid id":               {post(strings.Replace(message, `"id":1`, `"id":{}`, 1)), 400},
		"no id":                       {post(strings.Replace(message, `"id":1,`, ``, 1)), 400},
		"an unknown method":           {post(strings.Replace(message, "tools/call", "tools/destroy", 1)), 200},
		"no parameters":               {post(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`), 400},
		"text":                        {post(message, "Content-Type", "text/plain"), 415},
		"a form":                      {post(message, "Content-Type", "application/x-www-form-urlencoded"), 415},
		"no type":                     {post(message, "Content-Type", ""), 415},
		"a response in HTML":          {post(message, "Accept", "text/html"), 400},
		"a response in JSON only":     {post(message, "Accept", "application/json"), 400},
		"too much":                    {post(strings.Replace(message, "New", strings.Repeat("x", 1<<20), 1)), 413},
		"GET":                         {method(http.MethodGet), 405},
		"DELETE":                      {method(http.MethodDelete), 405},
		"PUT":                         {method(http.MethodPut), 405},
	} {
		before := w.boards()
		a := w.ada.Message(c.r)
		if a.Status != c.status || a.Result != nil || w.boards() != before {
			t.Errorf("%s: got status %d, body %s, and %d more boards", what, a.Status, a.Raw, w.boards()-before)
		}
		if c.status == http.StatusMethodNotAllowed && a.Header.Get("Allow") != http.MethodPost {
			t.Errorf("%s: allowed is %q", what, a.Header.Get("Allow"))
		}
		for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Request-Id"} {
			if a.Header.Get(name) == "" {
				t.Errorf("%s: the response has no header %s", what, name)
			}
		}
	}
	if a := w.ada.ToolOf(w.ada.Message(post(nested))); a.Code != board.CodeInvalidRequest ||
		!strings.Contains(a.Text, "nested") {
		t.Errorf("500 levels: %s", a.Text)
	}
	if a := w.ada.Message(post(message, "Accept", "*/*")); a.Status != http.StatusOK {
		t.Errorf("a request as curl sends it: got status %d, body %s; want 200", a.Status, a.Raw)
	}
	notification := w.ada.Message(post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if notification.Status != http.StatusAccepted || len(notification.Raw) > 0 {
		t.Errorf("a notification: got status %d, body %s", notification.Status, notification.Raw)
	}
}

// Huge arguments are rejected with the field's name, and do not crash the server.
func TestHugeArguments(t *testing.T) {
	w := one(t, apptest.Options{})
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
			t.Errorf("a huge %s: %d bytes, %s", field, len(a.Raw), a.Text[:min(300, len(a.Text))])
		}
	}
	unknown := fields{"listId": w.list, "title": "x", big: 1}
	if a := w.ada.Tool("create_card", unknown); a.Code != board.CodeInvalidRequest || len(a.Raw) > 4000 {
		t.Errorf("a huge name: %d bytes", len(a.Raw))
	}
}

// A page of another site may make a browser send a request, under the page's own host name or
// under one that resolves to this server.
func TestForeignPages(t *testing.T) {
	w := one(t, apptest.Options{})
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"", "", 200},
		{"cardwall.example.com", "https://cardwall.example.com", 200},
		{"CARDWALL.example.com:443", "https://cardwall.example.com:443", 200},
		// proxies that do not keep the Host header
		{"127.0.0.1:8080", "", 200}, {"localhost:8080", "", 200}, {"[::1]:8080", "", 200}, {"10.1.2.3", "", 200},
		{"evil.example.com", "", 403},
		{"cardwall.example.com.evil.example.com", "", 403},
		{"cardwall.example.com:8443", "", 403},
		{"localhost.evil.example.com:8080", "", 403},
		{"", "https://evil.example.com", 403},
		{"", "http://cardwall.example.com", 403},
		{"", "https://cardwall.example.com:8443", 403},
		{"", "https://cardwall.example.com.evil.example.com", 403},
		{"", "null", 403},
		{"", "", 200},
		{"127.0.0.1:8080", "http://127.0.0.1:8080", 403},
		{"evil.example.com", "https://evil.example.com", 403},
	} {
		r, before := w.create(apptest.Stateless), w.boards()
		if c.host != "" {
			r.Host = c.host
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		a := w.ada.Message(r)
		if a.Status != c.status || (w.boards() == before) == (c.status == 200) {
			t.Errorf("host %q, origin %q: got status %d, body %s", c.host, c.origin, a.Status, a.Raw)
		}
	}
	r := w.create(apptest.Stateless)
	r.Header["Origin"] = []string{"https://cardwall.example.com", "https://evil.example.com"}
	if a := w.ada.Message(r); a.Status != http.StatusForbidden {
		t.Errorf("two origins: got status %d, body %s; want 403", a.Status, a.Raw)
	}
}

// A request without a token is told where to get one and which scopes are enough. A browser's
// cookie does not authenticate.
func TestChallengeNamesSufficientScopes(t *testing.T) {
	w := one(t, apptest.Options{})
	want := `scope="read write", resource_metadata="` + apptest.BaseURL + `/.well-known/oauth-protected-resource/mcp"`
	nobody := *w.ada
	nobody.Token = ""
	browser := w.create(apptest.Stateless)
	signedIn := w.ada.Request(w.Registry.Named("get_session"), nil)
	browser.Header["Cookie"] = signedIn.Header["Cookie"]
	if browser.Header.Get("Cookie") == "" {
		t.Fatal("the browser has no cookie")
	}
	wrong := w.create(apptest.Stateless)
	wrong.Header.Set("Authorization", "Bearer cwl_wrong")
	get := w.create(apptest.Stateless)
	get.Method = http.MethodGet
	before := w.boards()
	for what, a := range map[string]apptest.RPCResponse{
		"no token": nobody.Message(w.create(apptest.Stateless)), "no token, GET": nobody.Message(get),
		"a wrong token": nobody.Message(wrong), "a cookie": nobody.Message(browser),
	} {
		if a.Status != http.StatusUnauthorized || !strings.HasPrefix(a.Header.Get("Www-Authenticate"), "Bearer ") ||
			!strings.Contains(a.Header.Get("Www-Authenticate"), want) {
			t.Errorf("%s: got status %d, body %s %v", what, a.Status, a.Raw, a.Header)
		}
	}
	if w.boards() != before {
		t.Error("something was done without a token")
	}
	if a := nobody.Call("get_me", nil); !strings.Contains(a.Header.Get("Www-Authenticate"), `scope="read write"`) ||
		strings.Contains(a.Header.Get("Www-Authenticate"), "/mcp") {
		t.Errorf("REST points to the metadata of the MCP endpoint: %v", a.Header)
	}
}

// A request counts like a REST request, and a search like a search.
func TestRates(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{RateLimits: true})
	s.Clock.Stop() // everything happens within one minute
	ada := s.Person("Ada")
	ada.Workspace("Free", board.PlanFree)
	limits := board.PlanFree.Limits()
	for i := range limits.SearchesPerMinute {
		if a := ada.Tool("search_cards", fields{"q": "x"}); a.Failed {
			t.Fatalf("search %d: %s", i+1, a.Text)
		}
	}
	a := ada.Tool("search_cards", fields{"q": "x"})
	if a.Code != board.CodeRateLimited || !strings.Contains(a.Text, "wait") {
		t.Errorf("the search after the limit: got %s", a.Text)
	}
	rest := ada.Call("search_cards", fields{"q": "x"})
	if rest.Code != board.CodeRateLimited || rest.Message != a.Message {
		t.Errorf("the same over REST: %s", rest.Raw)
	}
	for range limits.RequestsPerMinute - limits.SearchesPerMinute {
		if a := ada.RPC(apptest.Sessions, "ping", fields{}); a.Status != http.StatusOK ||
			a.Header.Get("X-Ratelimit-Limit") != "60" {
			t.Fatalf("got status %d, body %s %v", a.Status, a.Raw, a.Header)
		}
	}
	if a := ada.RPC(apptest.Sessions, "ping", fields{}); a.Status != http.StatusTooManyRequests ||
		a.Header.Get("Retry-After") == "" {
		t.Errorf("the request after the limit: got status %d, body %s %v", a.Status, a.Raw, a.Header)
	}
}
