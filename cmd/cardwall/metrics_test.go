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

// labelValues returns the values of each label of the program's own metrics.
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

// The metrics follow Prometheus' conventions, and no request can add label values that the
// program does not define.
func TestMetricsOfTheWholeProgram(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		s := newStation(t, database)
		const public = "/api/public/v1"
		s.must("POST", public+"/cards", map[string]any{"listId": s.list, "title": secretTitle}, "Idempotency-Key", "one")
		s.must("POST", public+"/cards", map[string]any{"listId": s.list, "title": secretTitle}, "Idempotency-Key", "one")
		res, _ := s.send("POST", "/api/app/v1/workspaces/"+s.workspace+"/import?format=trello", map[string]any{"odd": 1})
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("importing an invalid file: got status %d, want 400", res.StatusCode)
		}
		for i := range 130 { // more than the limit for strangers
			odd := fmt.Sprintf("odd7731x%d", i)
			s.send("GET", public+"/boards?"+odd+"=1", nil, "Authorization", "Bearer "+odd)
			s.send("GET", public+"/cards/"+odd+"?"+odd+"=1", nil, "X-Request-Id", odd)
			if i < 10 {
				s.send("POST", "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
					"params": map[string]any{"name": odd, "arguments": map[string]any{}}},
					"Accept", "application/json, text/event-stream")
				s.send("ODD7731X"+fmt.Sprint(i), "/"+odd, nil)
				s.send("POST", "/api/app/v1/workspaces/"+s.workspace+"/import?format="+odd, map[string]any{})
				s.send("PUT", public+"/cards", map[string]any{odd: odd})
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
		if strings.Contains(strings.ToLower(text), "odd7731") {
			t.Error("text sent by a client is in the metrics")
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
				t.Errorf("the label %s is unknown: add its values to this test", label)
				continue
			}
			for v := range values {
				if allowed != nil && !slices.Contains(allowed, v) {
					t.Errorf("the label %s has the value %q", label, v)
				}
			}
			if label != "operation" && label != "le" && len(values) > 30 {
				t.Errorf("the label %s has %d values: %v", label, len(values), slices.Sorted(maps.Keys(values)))
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
			"cardwall_changes_total 3", "cardwall_live_streams 0", "cardwall_letters_waiting 0",
			"cardwall_http_requests_in_flight 0", `cardwall_build_info{database="` + map[bool]string{true: "postgres",
				false: "sqlite"}[sqldb.IsPostgres(database)] + `"`,
		} {
			if !strings.Contains(text, "\n"+want) {
				t.Errorf("the metrics do not contain %s", want)
			}
		}
		if sqldb.IsPostgres(database) == strings.Contains(text, "cardwall_sqlite_") {
			t.Error("a database exports metrics of the other database")
		}
		s.keepsSecrets("a metric", text)
		if t.Failed() {
			t.Log(text)
		}
	})
}

// metricNames returns the names and help texts of every metric that a server exports on either
// database.
func metricNames(t *testing.T) map[string]string {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	about := regexp.MustCompile(`fqName: "([^"]*)", help: "((?:[^"\\]|\\.)*)"`)
	found := map[string]string{}
	for _, database := range []string{t.TempDir() + "/cardwall.db", apptest.PostgresURL(t)} {
		g := &globals{log: slog.New(slog.DiscardHandler)}
		seen, err := newTelemetry(g)
		if err != nil {
			t.Fatal(err)
		}
		defer seen.stop()
		db, err := store.Open(t.Context(),
			store.Options{Database: database, Log: g.log, Metrics: seen.database, Migrate: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		hub := live.NewHub(db, g.log)
		defer hub.Close()
		room, err := spool.Open(t.TempDir(), 1)
		if err != nil {
			t.Fatal(err)
		}
		descriptions := make(chan *prometheus.Desc)
		go func() {
			seen.register(db, hub, room)
			seen.registry.Describe(descriptions)
			close(descriptions)
		}()
		for d := range descriptions {
			said := about.FindStringSubmatch(d.String())
			found[said[1]] = said[2]
		}
	}
	return found
}

func TestMetricsHaveNamesAndHelp(t *testing.T) {
	names := metricNames(t)
	if len(names) < 60 {
		t.Fatalf("there are %d metrics: %v", len(names), names)
	}
	for name, help := range names {
		switch {
		case strings.HasPrefix(name, "go_"), strings.HasPrefix(name, "process_"): // from client_golang
		case !regexp.MustCompile(`^cardwall_[a-z]+(_[a-z]+)*$`).MatchString(name):
			t.Errorf("%s does not have the prefix of the program's metrics", name)
		case len(help) < 20 || !strings.HasSuffix(help, "."):
			t.Errorf("%s has the help text %q", name, help)
		}
	}
}
