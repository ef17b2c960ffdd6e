package rest_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/rest"
)

type fields = apptest.Fields

// newBoard creates a person, a workspace and a board.
func newBoard(s *apptest.Service) (ada *apptest.Person, workspace, boardID string) {
	ada = s.Person("Ada")
	workspace = ada.Workspace("Engines", board.PlanTeam)
	return ada, workspace, ada.Must("create_board", fields{"workspaceId": workspace, "name": "Board"}).ID()
}

func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, _, boardID := newBoard(s)
		for _, path := range []string{"", "/", "/nowhere", "/boards/", "/boards//", "/boards/" + boardID + "/",
			"/boards/" + boardID + "/nowhere", "//me", "/./me", "/x/../me", "/me/..", "/ME", "/boards/%2e%2e/me", "/me%00",
			"/me/%2f"} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				a := ada.Send(method, path, "")
				if a.Status != http.StatusNotFound || a.Code != board.CodeNotFound ||
					!strings.Contains(string(a.Raw), `"reason":"unknown_path"`) {
					t.Errorf("%s %q: got status %d, body %s; want 404 with the reason unknown_path", method, path, a.Status, a.Raw)
				}
				for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "X-Request-Id"} {
					if a.Header.Get(name) == "" {
						t.Errorf("%s %q: got no %s header, want one", method, path, name)
					}
				}
				if location := a.Header.Get("Location"); location != "" {
					t.Errorf("%s %q: got a redirect to %s, want none", method, path, location)
				}
			}
		}
	})
}

func TestWrongMethods(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, _, boardID := newBoard(s)
		for path, allowed := range map[string]string{
			"/me": "GET, HEAD", "/boards": "GET, HEAD, POST", "/boards/" + boardID: "DELETE, GET, HEAD, PATCH", "/cards": "POST",
			"/boards/" + boardID + "/members/x": "DELETE, PUT",
		} {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
				if slices.Contains(strings.Split(allowed, ", "), method) {
					continue
				}
				a := ada.Send(method, path, "")
				if a.Status != http.StatusMethodNotAllowed || a.Code != board.CodeInvalidRequest ||
					a.Header.Get("Allow") != allowed || !strings.Contains(a.Message, allowed) {
					t.Errorf("%s %s: got status %d, body %s, Allow %q; want 405 with %q", method, path, a.Status, a.Raw,
						a.Header.Get("Allow"), allowed)
				}
			}
		}
		nobody := *ada
		nobody.Token = ""
		if a := nobody.Send("PUT", "/me", ""); a.Status != http.StatusUnauthorized {
			t.Errorf("wrong method without a token: got status %d, body %s; want 401", a.Status, a.Raw)
		}
	})
}

func TestBodies(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, workspace, boardID := newBoard(s)
		name := func(json string) string { return `{"workspaceId":"` + workspace + `","name":` + json + `}` }
		before := ada.Must("list_boards", nil).Raw
		for what, c := range map[string]struct {
			body   string
			status int
			says   string
		}{
			"a body over 1 MiB":      {name(`"` + strings.Repeat("x", 1<<20) + `"`), 413, "1 MiB"},
			"white space over 1 MiB": {strings.Repeat(" ", 1<<20+1), 413, "1 MiB"},
			"duplicate name":         {`{"name":"a","name":"b","workspaceId":"` + workspace + `"}`, 400, "name"},
			"duplicate escaped name": {`{"name":"a","\u006eame":"b","workspaceId":"` + workspace + `"}`,
				400, "name"},
			"duplicate name in an object": {`{"name":"a","workspaceId":"` + workspace + `","x":{"y":1,"y":2}}`, 400,
				"y"},
			"name in another case":      {`{"NAME":"a","workspaceId":"` + workspace + `"}`, 400, "NAME"},
			"name also in another case": {`{"name":"a","Name":"","workspaceId":"` + workspace + `"}`, 400, "Name"},
			"Kelvin sign instead of k": {`{"name":"a","wor` + "\u212a" + `spaceId":"` + workspace + `"}`,
				400, "paceId"},
			"invalid UTF-8":         {name("\"a\xff\""), 400, "UTF-8"},
			"single surrogate":      {name(`"\ud800"`), 400, "surrogate"},
			"U+0000":                {name(`"a\u0000b"`), 400, "U+0000"},
			"unescaped U+0000":      {name("\"a\x00b\""), 400, "JSON"},
			"unescaped line break":  {name("\"a\nb\""), 400, "JSON"},
			"33 levels":             {name(strings.Repeat("[", 32) + strings.Repeat("]", 32)), 400, "32"},
			"a thousand levels":     {strings.Repeat(`{"a":`, 1000), 400, "32"},
			"32 levels":             {name(strings.Repeat("[", 31) + strings.Repeat("]", 31)), 400, "name"},
			"text after the object": {name(`"a"`) + ` x`, 400, "JSON"},
			"second object":         {name(`"a"`) + name(`"b"`), 400, "JSON"},
			"array":                 {`[` + name(`"a"`) + `]`, 400, "object"},
			"string":                {`"name"`, 400, "object"},
			"null":                  {`null`, 400, "object"},
			"truncated object":      {name(`"a"`)[:20], 400, "JSON"},
			"single quotes":         {`{'name':'a'}`, 400, "JSON"},
			"comment":               {`{/**/}`, 400, "JSON"},
			"trailing comma":        {`{"name":"a",}`, 400, "JSON"},
			"byte order mark":       {"\ufeff" + name(`"a"`), 400, "JSON"},
			"NaN":                   {name(`NaN`), 400, "JSON"},
			"empty body":            {"", 400, "required"},
			"white space":           {" \n ", 400, "JSON"},
			"empty object":          {"{}", 400, "name is required"},
		} {
			if a := ada.Send("POST", "/boards", c.body); a.Status != c.status || a.Code != board.CodeInvalidRequest ||
				!strings.Contains(a.Message, c.says) || len(a.Message) > 600 {
				t.Errorf("%s: got status %d, body %.600s; want %d with %q", what, a.Status, a.Raw, c.status, c.says)
			}
		}
		if after := ada.Must("list_boards", nil).Raw; string(after) != string(before) {
			t.Errorf("after rejected bodies: got the boards %s, want %s", after, before)
		}
		for what, body := range map[string]string{"an escaped backslash before u0000": name(`"a\\u0000b"`),
			"escapes": name(`"\u00e4\ud834\udd1e"`), "a mebibyte with white space": name(`"a"`) + strings.Repeat(" ", 1<<20-200)} {
			if a := ada.Send("POST", "/boards", body); a.Status != http.StatusCreated {
				t.Errorf("%s: got status %d, body %.300s; want 201", what, a.Status, a.Raw)
			}
		}
		for _, c := range [][2]string{{"GET", "/me"}, {"GET", "/boards/" + boardID}, {"DELETE", "/boards/" + boardID},
			{"POST", "/boards/" + boardID + "/archive"}} {
			if a := ada.Send(c[0], c[1], `{"x":1}`); a.Status != http.StatusBadRequest || !strings.Contains(a.Message, "body") {
				t.Errorf("%s %s with a body: got status %d, body %s; want 400", c[0], c[1], a.Status, a.Raw)
			}
		}
	})
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, workspace, _ := newBoard(s)
		send := func(header ...string) apptest.Response {
			r := httptest.NewRequest("POST", rest.Prefix+"/boards",
				strings.NewReader(`{"workspaceId":"`+workspace+`","name":"x"}`))
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			return ada.Do(r)
		}
		for _, bad := range [][]string{
			nil, {"Content-Type", ""}, {"Content-Type", "text/plain"}, {"Content-Type", "application/x-www-form-urlencoded"},
			{"Content-Type", "multipart/form-data; boundary=x"},
			{"Content-Type", "application/json; charset=latin1"}, {"Content-Type", "application/json-patch+json"},
			{"Content-Type", "json"}, {"Content-Type", "application/json, text/plain"},
			{"Content-Type", "application/json", "Content-Encoding", "gzip"},
		} {
			if a := send(bad...); a.Status != http.StatusUnsupportedMediaType || a.Code != board.CodeInvalidRequest ||
				!strings.Contains(a.Message, "application/json") {
				t.Errorf("%v: got status %d, body %s; want 415", bad, a.Status, a.Raw)
			}
		}
		for _, good := range [][]string{{"Content-Type", "application/json"},
			{"Content-Type", "Application/JSON; charset=UTF-8"},
			{"Content-Type", "application/json", "Content-Encoding", "identity"}} {
			if a := send(good...); a.Status != http.StatusCreated {
				t.Errorf("%v: got status %d, body %s; want 201", good, a.Status, a.Raw)
			}
		}
	})
}

// A response contains the client's request id if the id is well-formed. Otherwise it
// contains a generated id, and not the malformed one.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, _, _ := newBoard(s)
		for _, valid := range []string{"a", "req-1", "Aa0_.-", strings.Repeat("x", 64)} {
			for _, path := range []string{"/me", "/nowhere", "/openapi.json"} {
				if a := ada.Send("GET", path, "", "X-Request-Id", valid); a.Header.Get("X-Request-Id") != valid {
					t.Errorf("%s: got X-Request-Id %q, want %q", path, a.Header.Get("X-Request-Id"), valid)
				}
			}
		}
		seen := map[string]bool{}
		for _, bad := range []string{"", "a b", "a\r\nSet-Cookie: x", "ä", "<script>", "a/b", strings.Repeat("x", 65)} {
			id := ada.Send("GET", "/me", "", "X-Request-Id", bad).Header.Get("X-Request-Id")
			if !strings.HasPrefix(id, "req_") || len(id) != 30 || seen[id] {
				t.Errorf("request id %q: got %q, want a generated id", bad, id)
			}
			seen[id] = true
		}
	})
}

// Responses have headers that prevent caching and content sniffing.
func TestSecurityHeadersOfResponses(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, _, _ := newBoard(s)
		for _, path := range []string{"/me", "/nowhere", "/boards/x"} {
			a := ada.Send("GET", path, "")
			for name, want := range map[string]string{"Content-Type": "application/json", "Cache-Control": "no-store",
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Access-Control-Allow-Origin": ""} {
				if got := a.Header.Get(name); got != want {
					t.Errorf("%s: got %s %q, want %q", path, name, got, want)
				}
			}
		}
	})
}
