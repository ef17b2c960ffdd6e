package connect_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		r := register(s, `{"client_name":" Claude\u202e\u200b\n Code ","redirect_uris":["http://localhost/callback"],`+
			`"token_endpoint_auth_method":"client_secret_post","logo_uri":"https://x.example/l.png","client_uri":"javascript:alert(1)"}`)
		if r.status != http.StatusCreated || r.text("client_name") != "Claude Code" ||
			r.text("token_endpoint_auth_method") != "none" || r.body["client_secret"] != nil || r.body["client_uri"] != nil ||
			fmt.Sprint(r.body["grant_types"]) != "[authorization_code refresh_token]" ||
			fmt.Sprint(r.body["response_types"]) != "[code]" || r.body["client_id_issued_at"] == nil ||
			r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got status %d, body %s; want a sanitized registration", r.status, r.raw)
		}
		if got := s.Column("SELECT name FROM oauth_clients"); !slices.Equal(got, []string{"Claude Code"}) {
			t.Errorf("got stored names %q, want %q", got, []string{"Claude Code"})
		}
		onlyDevice := register(s, `{"grant_types":["`+deviceGrant+`"]}`)
		if onlyDevice.status != http.StatusCreated || onlyDevice.body["redirect_uris"] != nil ||
			onlyDevice.body["response_types"] != nil {
			t.Errorf("device client: got status %d, body %s; want 201", onlyDevice.status, onlyDevice.raw)
		}
		wantError(t, "an authorization request of a device client",
			get(s, "/oauth/authorize?client_id="+onlyDevice.text("client_id")+"&redirect_uri=https%3A%2F%2Fx.example"),
			"unauthorized_client")
		wantError(t, "a device authorization request of a browser client",
			post(s, "/oauth/device_authorization", values("client_id", r.text("client_id"))), "unauthorized_client")

		many, err := json.Marshal(slices.Repeat([]string{callback}, 11))
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct{ metadata, code string }{
			"not an object": {`[]`, "invalid_client_metadata"},
			"not JSON":      {`{`, "invalid_client_metadata"},
			"duplicate name": {`{"redirect_uris":["` + callback + `"],"redirect_uris":["https://evil.example/"]}`,
				"invalid_client_metadata"},
			"a string instead of a list": {`{"redirect_uris":"` + callback + `"}`, "invalid_client_metadata"},
			"no redirect URIs":           {`{}`, "invalid_redirect_uri"},
			"an empty list":              {`{"redirect_uris":[]}`, "invalid_redirect_uri"},
			"eleven redirect URIs":       {`{"redirect_uris":` + string(many) + `}`, "invalid_redirect_uri"},
			"the implicit grant": {`{"redirect_uris":["` + callback + `"],"grant_types":["implicit"]}`,
				"invalid_client_metadata"},
			"only refresh tokens": {`{"redirect_uris":["` + callback + `"],"grant_types":["refresh_token"]}`,
				"invalid_client_metadata"},
			"the response type token": {`{"redirect_uris":["` + callback + `"],"response_types":["token"]}`,
				"invalid_client_metadata"},
		} {
			wantError(t, what, register(s, c.metadata), c.code)
		}
		for _, bad := range []string{
			"", "/callback", "//x.example/cb", "x.example/cb", "https://", "https:///cb", "https:cb",
			"https://x.example/cb#fragment", "https://x.example/cb#", "https://user@x.example/cb", "http://x.example/cb",
			"http://10.0.0.1/cb", "http://localhost.evil.example/cb", "http://127.0.0.1.evil.example/", "javascript:alert(1)",
			"JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "blob:https://x.example/1",
			"about:blank", "urn:ietf:wg:oauth:2.0:oob", "https://x.example/c b", "https://x.example/\u00e9",
			"https://x.example\\@evil.example/", "https://x.example/\t", "https://x.example/cb\n", "mailto:x@x.example",
			"intent://x#Intent;end",
			"https://x.example/" + strings.Repeat("x", 2_000), "http://127.0.0.2/cb", "http://0.0.0.0/cb",
			"http://[::ffff:127.0.0.1]/cb", "http://localhost./cb",
			".app:/cb", "com..example:/cb", "com.example.:/cb", "x-apple.systempreferences:x", "com.-x:/cb", "1.2:/cb",
		} {
			metadata, err := json.Marshal(map[string]any{"redirect_uris": []string{callback, bad}})
			if err != nil {
				t.Fatal(err)
			}
			wantError(t, bad, register(s, string(metadata)), "invalid_redirect_uri")
		}
		if r := register(s, `{"client_name":"`+strings.Repeat("x",
			17<<10)+`"}`); r.status != http.StatusRequestEntityTooLarge || r.text("error") != "invalid_client_metadata" {
			t.Errorf("a large registration: got status %d, body %s; want 413", r.status, r.raw)
		}
		form := httptest.NewRequest(http.MethodPost, "/oauth/register", strings.NewReader("x=y"))
		form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if r := send(s, form); r.status != http.StatusUnsupportedMediaType {
			t.Errorf("a form: got status %d, body %s; want 415", r.status, r.raw)
		}
	})
}

// forbiddenSchemes belong to browsers or operating systems, or are not the reversed domain name
// of an app's owner.
var forbiddenSchemes = []string{
	"ms-appinstaller:", "search:", "shell:", "mhtml:", "microsoft-edge:", "search-ms:", "ms-msdt:", "javascript:",
	"vbscript:", "data:", "file:", "intent:",
	"cursor:", "vscode:", "ms-settings:", "x-apple.systempreferences:", "steam:", "tel:", "ws:", "ftp:", "web+app:",
}

// A redirect URI must use https, http on the loopback interface, or a scheme that is a reversed
// domain name. The rule applies to registrations and to client metadata documents.
func TestRedirectSchemesAreAnAllowlist(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, scheme := range forbiddenSchemes {
		for _, rest := range []string{"x", "//x/cb", "?source=https://evil.example"} {
			r := register(s, `{"redirect_uris":["`+scheme+rest+`"]}`)
			wantError(t, scheme+rest, r, "invalid_redirect_uri")
			if !strings.Contains(r.text("error_description"), "https") && !strings.Contains(r.text("error_description"),
				"host") && !strings.Contains(r.text("error_description"), "absolute") {
				t.Errorf("%s: got %s, want an error that says what is allowed", scheme, r.raw)
			}
		}
	}
	for _, good := range []string{"https://x.example/cb", "https://x.example:8443/cb?a=1", "http://localhost/cb",
		"http://localhost:3000/cb", "http://127.0.0.1:1/", "http://[::1]/cb", "com.example.app:/cb", "com.example.app://cb",
		"io.x:/"} {
		if r := register(s, `{"redirect_uris":["`+good+`"]}`); r.status != http.StatusCreated {
			t.Errorf("%s: got status %d, body %s; want 201", good, r.status, r.raw)
		}
	}
}

// The code editor Cursor registers a URI with its own scheme in addition to the URIs that it uses.
func TestCursorSchemeIsIgnored(t *testing.T) {
	t.Parallel()
	s := newService(t)
	own := "cursor://anysphere.cursor-mcp/oauth/callback"
	r := register(s, `{"client_name":"Cursor","redirect_uris":["`+own+
		`","https://www.cursor.com/agents/mcp/oauth/callback","http://localhost:8787/callback"]}`)
	if got := fmt.Sprint(r.body["redirect_uris"]); r.status != http.StatusCreated ||
		got != "[https://www.cursor.com/agents/mcp/oauth/callback http://localhost:8787/callback]" {
		t.Fatalf("got status %d, body %s; want 201 without the cursor scheme", r.status, r.raw)
	}
	p := oauthClient{s, r.text("client_id"), "http://localhost:8787/callback"}
	p.code(s.Person("Ada"))
	wantError(t, "the cursor scheme", get(s, "/oauth/authorize?"+p.request("redirect_uri", own).Encode()),
		"invalid_request")
}

// Invisible or misleading characters are removed from the names of clients.
func TestClientNamesAreSanitized(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for given, want := range map[string]string{
		`\u3164\u3164`: "", `\u2800`: "", `\uffa0Claude\ufe0f`: "Claude", `\u202eedualC`: "edualC",
		`Cla\u00adude\u034f`: "Claude", `Claude\n\n\nCode`: "Claude Code",
	} {
		if r := register(s, `{"client_name":"`+given+`","redirect_uris":["`+callback+`"]}`); r.text("client_name") != want {
			t.Errorf("name %s: got %q, want %q", given, r.text("client_name"), want)
		}
	}
}

func TestRegistrationCanBeDisabled(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{NoRegistration: true})
	if r := register(s, `{"redirect_uris":["`+callback+`"]}`); r.status != http.StatusForbidden ||
		r.text("error") != "access_denied" {
		t.Errorf("got status %d, body %s; want 403 access_denied", r.status, r.raw)
	}
	if r := get(s, "/.well-known/oauth-authorization-server"); r.body["registration_endpoint"] != nil ||
		r.body["client_id_metadata_document_supported"] != true {
		t.Errorf("got server metadata %s, want no registration_endpoint", r.raw)
	}
}

func TestRegistrationsAreLimited(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{RateLimits: true})
	for i := range 61 {
		r := register(s, `{"redirect_uris":["`+callback+`"]}`)
		if limited := r.status == http.StatusTooManyRequests; limited != (i == 60) {
			t.Fatalf("registration %d: got status %d, body %s; want 429 only for number 61", i+1, r.status, r.raw)
		} else if limited && (r.header.Get("Retry-After") == "" || r.text("error") != "temporarily_unavailable") {
			t.Errorf("got %s, headers %v; want temporarily_unavailable with Retry-After", r.raw, r.header)
		}
	}
}

// A client that nobody authorized is deleted after a week. An authorized client is kept for a year,
// and longer while it has a connection.
func TestHousekeepingDeletesUnusedClients(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		unused, used := newClient(s), newClient(s)
		got := used.tokens(ada)
		post(s, "/oauth/device_authorization", values("client_id", unused.id))
		housekeep := func() {
			t.Helper()
			if _, err := app.Housekeep(t.Context(), s.DB, store.NewID("srv_")); err != nil {
				t.Fatal(err)
			}
			s.Clock.Advance(time.Hour) // housekeeping runs once an hour
		}
		housekeep()
		if n := len(s.Column("SELECT id FROM oauth_clients")); n != 2 {
			t.Errorf("got %d clients, want 2", n)
		}
		s.Clock.Advance(board.ClientUnused)
		housekeep()
		if got := s.Column("SELECT id FROM oauth_clients"); !slices.Equal(got, []string{used.id}) {
			t.Errorf("got clients %v, want %v", got, []string{used.id})
		}
		if n := len(s.Column("SELECT id FROM oauth_devices")) + len(s.Column("SELECT client_id FROM oauth_codes")); n != 0 {
			t.Errorf("got %d codes, want 0", n)
		}
		wantError(t, "a deleted client", post(s, "/oauth/token", unused.redemption("x")), "invalid_client")
		again := used.must("/oauth/token", used.refresh(got.text("refresh_token")))
		s.Clock.Advance(board.ClientKept + time.Hour)
		housekeep()
		housekeep()
		if n := len(s.Column("SELECT id FROM oauth_clients")) + len(s.Column("SELECT token_id FROM oauth_grants")); n != 0 {
			t.Errorf("got %d rows of a connection that ended long ago, want 0", n)
		}
		wantError(t, "a refresh token of a deleted client", post(s, "/oauth/token", used.refresh(again.text("refresh_token"))),
			"invalid_client")
	})
}
