package main

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/catalog"
	"cardwall/internal/live"
	"cardwall/internal/spool"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// labelValues returns the values of each label of the cardwall_ metrics.
func labelValues(text string) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	pair := regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, "{")
		if !strings.HasPrefix(name, "cardwall_") {
			continue
		}
		for _, p := range pair.FindAllStringSubmatch(rest, -1) {
			if found[p[1]] == nil {
				found[p[1]] = map[string]bool{}
			}
			found[p[1]][p[2]] = true
		}
	}
	return found
}

// The metrics follow the Prometheus conventions, and requests cannot add label values that the
// program does not define.
func TestMetricsOfTheWholeProgram(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		s := newStation(t, database)
		const public = "/api/public/v1"
		s.must("POST", public+"/cards", map[string]any{"listId": s.list, "title": secretTitle}, "Idempotency-Key", "one")
		s.must("POST", public+"/cards", map[string]any{"listId": s.list, "title": secretTitle}, "Idempotency-Key", "one")
		res, _ := s.send("POST", "/api/app/v1/workspaces/"+s.workspace+"/import?format=trello", map[string]any{"unknown": 1})
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("import of an invalid file: got status %d, want 400", res.StatusCode)
		}
		for i := range 130 { // more than the limit for unauthenticated callers
			unknown := fmt.Sprintf("unknown7731x%d", i)
			s.send("GET", public+"/boards?"+unknown+"=1", nil, "Authorization", "Bearer "+unknown)
			s.send("GET", public+"/cards/"+unknown+"?"+unknown+"=1", nil, "X-Request-Id", unknown)
			if i < 10 {
				s.send("POST", "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
					"params": map[string]any{"name": unknown, "arguments": map[string]any{}}},
					"Accept", "application/json, text/event-stream")
				s.send("UNKNOWN7731X"+fmt.Sprint(i), "/"+unknown, nil)
				s.send("POST", "/api/app/v1/workspaces/"+s.workspace+"/import?format="+unknown, map[string]any{})
				s.send("PUT", public+"/cards", map[string]any{unknown: unknown})
			}
		}
		text := s.scrape()
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
		if strings.Contains(strings.ToLower(text), "unknown7731") {
			t.Error("the metrics contain text from a client's request")
		}
		codes := []string{"ok", "cancelled"}
		for _, c := range []board.Code{
			board.CodeInvalidRequest, board.CodeUnauthenticated, board.CodeForbidden, board.CodeInsufficientScope,
			board.CodeNotFound, board.CodeArchived, board.CodeBoardArchived,
			board.CodeCapacityFull, board.CodePowerupDisabled, board.CodeLimitReached, board.CodePlanLimit,
			board.CodePlanReadOnly, board.CodeRateLimited, board.CodeUnavailable, board.CodeInternal,
		} {
			codes = append(codes, string(c))
		}
		var operations []string
		for _, o := range catalog.New(catalog.Parts{}).All() {
			operations = append(operations, o.Name)
		}
		known := map[string][]string{
			"operation": operations, "outcome": append(codes, "refused", "failed", "sent", "later", "given_up"),
			"door":   {"api", "app", "mcp", "probe", "page"},
			"status": nil, "kind": {"read", "write", "report", "stream"}, "source": {"cache", "database"},
			"limit":  {"address", "user", "search", "session", "anybody", "guest", "program"},
			"format": {"trello", "cardwall"}, "le": nil, "version": {apiVersion()}, "goversion": nil, "done": {"yes", "no"},
			"database": {"sqlite", "postgres"}, "class": nil, "reason": {"failures", "gone", "owner", "plan"},
		}
		got := labelValues(text)
		for label, values := range got {
			allowed, ok := known[label]
			if !ok {
				t.Errorf("the label %s is unknown; add its values to this test", label)
				continue
			}
			for v := range values {
				if allowed != nil && !slices.Contains(allowed, v) {
					t.Errorf("the label %s has the unknown value %q", label, v)
				}
			}
			if label != "operation" && label != "le" && len(values) > 30 {
				t.Errorf("the label %s has %d values, want at most 30: %v", label, len(values), slices.Sorted(maps.Keys(values)))
			}
		}
		for _, want := range []string{
			`cardwall_operations_total{operation="create_card",outcome="ok"} 2`,
			`cardwall_operation_seconds_count{operation="create_card"} 2`,
			`cardwall_imports_total{format="trello",outcome="invalid_request"} 1`,
			`cardwall_rate_limit_refusals_total{limit="address"}`,
			`cardwall_http_requests_total{door="api",status="429"}`, `cardwall_credential_lookups_total{source="cache"}`,
			`cardwall_credential_lookups_total{source="database"}`,
			`cardwall_transactions_total{kind="write",outcome="ok"}`, `cardwall_commit_seconds_count`,
			"cardwall_changes_total 3", "cardwall_live_streams 0", "cardwall_emails_waiting 0",
			"cardwall_http_requests_in_flight 0", `cardwall_build_info{database="` + map[bool]string{true: "postgres",
				false: "sqlite"}[sqldb.IsPostgres(database)] + `"`,
		} {
			if !strings.Contains(text, "\n"+want) {
				t.Errorf("the metrics do not contain %s", want)
			}
		}
		if sqldb.IsPostgres(database) == strings.Contains(text, "cardwall_sqlite_") {
			t.Error("got cardwall_sqlite_ metrics on PostgreSQL, or none on SQLite")
		}
		s.checkNoSecrets("a metric", text)
		if t.Failed() {
			t.Log(text)
		}
	})
}

// metricNames returns the help text of every metric that a server exports on either database, by
// metric name.
func metricNames(t *testing.T) map[string]string {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	description := regexp.MustCompile(`fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)"`)
	found := map[string]string{}
	for _, database := range []string{t.TempDir() + "/cardwall.db", apptest.PostgresURL(t)} {
		g := &globals{log: slog.New(slog.DiscardHandler)}
		telemetry, err := newTelemetry(g)
		if err != nil {
			t.Fatal(err)
		}
		defer telemetry.stop()
		db, err := store.Open(t.Context(),
			store.Options{Database: database, Log: g.log, Metrics: telemetry.database, Migrate: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		hub := live.NewHub(db, g.log)
		defer hub.Close()
		spoolFolder, err := spool.Open(t.TempDir(), 1)
		if err != nil {
			t.Fatal(err)
		}
		descriptions := make(chan *prometheus.Desc)
		go func() {
			telemetry.register(db, hub, spoolFolder)
			telemetry.registry.Describe(descriptions)
			close(descriptions)
		}()
		for d := range descriptions {
			match := description.FindStringSubmatch(d.String())
			found[match[1]] = match[2]
		}
	}
	return found
}

func TestMetricsHaveNamesAndHelp(t *testing.T) {
	names := metricNames(t)
	if len(names) < 60 {
		t.Fatalf("got %d metrics, want at least 60: %v", len(names), names)
	}
	for name, help := range names {
		switch {
		case strings.HasPrefix(name, "go_"), strings.HasPrefix(name, "process_"): // from client_golang
		case !regexp.MustCompile(`^cardwall_[a-z]+(_[a-z]+)*$`).MatchString(name):
			t.Errorf("%s is not a name of the form cardwall_… with lowercase words", name)
		case len(help) < 20 || !strings.HasSuffix(help, "."):
			t.Errorf("%s has help text %q, want a sentence", name, help)
		}
	}
}
