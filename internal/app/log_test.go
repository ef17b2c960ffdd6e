package app_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/op"
)

// logLine is the log line of a request.
type logLine struct {
	Msg, Level, Request, Method, Route, Operation string
	Status                                        int
}

// Every call writes one log line, whether it is made over REST or MCP and whatever its result. The
// log contains no text that people wrote, no email address or receiver URL, and no secret.
func TestLogContainsNoSecrets(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		var out apptest.Buffer
		s := apptest.New(t, database,
			apptest.Options{Log: slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		w := newWorld(s)
		secrets := []string{w.owner.Token, w.other.Token, "whsec_", "@example.com", apptest.Receivers + "/"}
		var collect func(v any)
		// collect adds strings that people wrote to secrets: those that contain a space or are URLs.
		collect = func(v any) {
			switch v := v.(type) {
			case string:
				if strings.Contains(v, " ") || strings.HasPrefix(v, "https://") {
					secrets = append(secrets, v)
				}
			case fields:
				for _, f := range v {
					collect(f)
				}
			case []fields:
				for _, f := range v {
					collect(f)
				}
			case []string:
				for _, f := range v {
					collect(f)
				}
			}
		}
		for _, o := range s.Registry.All() {
			in := w.sample(t, o)
			collect(in)
			caller := w.as(o)
			a := caller.CallWith(o.Name, in, http.Header{"X-Request-Id": {"walk-" + o.Name}})
			if a.Header.Get("X-Request-Id") != "walk-"+o.Name {
				t.Errorf("%s: got request ID %q, want %q", o.Name, a.Header.Get("X-Request-Id"), "walk-"+o.Name)
			}
			if o.Secret && a.Status/100 == 2 {
				var made struct {
					Data map[string]any `json:"data"`
				}
				if json.Unmarshal(a.Raw, &made) == nil {
					for name, v := range made.Data {
						if text, ok := v.(string); ok && len(text) > 16 && (strings.Contains(strings.ToLower(name), "secret") ||
							strings.Contains(name, "token") || strings.Contains(name, "url")) {
							secrets = append(secrets, text)
						}
					}
				}
			}
			broken := fields{"titel": "Broken wording 7731"}
			for name, v := range in {
				broken[name] = v
			}
			caller.CallWith(o.Name, broken, nil)
			if o.IsTool() {
				caller.Tool(o.Name, in)
			}
		}
		secrets = append(secrets, "Broken wording 7731", "path-7731")
		for _, path := range []string{"/p/path-7731", "/ical/path-7731.ics", "/api/public/v1/path-7731?token=path-7731",
			"/reset#path-7731", "/unsubscribe?t=path-7731", "/api/app/v1/path-7731/x"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Cookie", "__Host-session=path-7731")
			r.Header.Set("X-Request-Id", "not an ID path-7731")
			response := httptest.NewRecorder()
			s.Handler.ServeHTTP(response, r)
			if id := response.Header().Get("X-Request-Id"); !strings.HasPrefix(id, "req_") {
				t.Errorf("%s with an invalid request ID: got ID %q, want one with the prefix %q", path, id, "req_")
			}
		}
		text := out.String()
		slices.Sort(secrets)
		for _, secret := range slices.Compact(secrets) {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("the log contains %q: …%s…", secret, text[max(0, i-200):min(len(text), i+100)])
			}
		}
		lines := map[string]logLine{}
		for line := range strings.Lines(text) {
			var l logLine
			if err := json.Unmarshal([]byte(line), &l, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatalf("a log line is not JSON: %v: %s", err, line)
			}
			if strings.HasSuffix(l.Msg, "request") && strings.HasPrefix(l.Request, "walk-") {
				if lines[l.Request] != (logLine{}) {
					t.Errorf("request %s: got two log lines, want one", l.Request)
				}
				lines[l.Request] = l
			}
		}
		for _, o := range s.Registry.All() {
			l := lines["walk-"+o.Name]
			if l.Operation != o.Name || l.Method != o.Method || !strings.HasSuffix(l.Route, o.Path) || l.Status < 200 ||
				l.Status > 299 {
				t.Errorf("%s: got log line %+v, want its method, route and a 2xx status", o.Name, l)
			}
		}
		if tools := strings.Count(text, `"route":"/mcp","operation":"`); tools < len(toolOperations(s.Registry)) {
			t.Errorf("got %d logged tool calls with an operation, want at least %d", tools, len(toolOperations(s.Registry)))
		}
	})
}

// toolOperations returns the operations that are available as tools.
func toolOperations(r *op.Registry) (all []*op.Operation) {
	for _, o := range r.All() {
		if o.IsTool() {
			all = append(all, o)
		}
	}
	return all
}
