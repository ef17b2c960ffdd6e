package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
)

// spanTree is a trace collector that stores the spans it receives.
type spanTree struct {
	mu     sync.Mutex
	all    []*otlp.Span
	bodies []byte
}

func (c *spanTree) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &m) != nil || r.URL.Path != "/v1/traces" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = append(c.bodies, body...)
	for _, resource := range m.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.all = append(c.all, scope.Spans...)
		}
	}
}

// find returns the first span for which matches returns true, or nil.
func (c *spanTree) find(matches func(*otlp.Span) bool) *otlp.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.all {
		if matches(s) {
			return s
		}
	}
	return nil
}

// child returns a span's first child whose name begins with the given name, or nil.
func (c *spanTree) child(parent *otlp.Span, name string) *otlp.Span {
	return c.find(func(s *otlp.Span) bool {
		return string(s.ParentSpanId) == string(parent.SpanId) && string(s.TraceId) == string(parent.TraceId) &&
			strings.HasPrefix(s.Name, name)
	})
}

// attribute returns a string attribute of a span, or "".
func attribute(s *otlp.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// The trace of a request continues the trace of its caller and contains the operation, the
// transaction and the statements. Deliveries, rules and emails have their own traces. No trace
// contains the content of a board or an email address.
func TestTracesOfTheWholeProgram(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1000000")
	t.Run("sqlite", func(t *testing.T) { testTracesOfTheWholeProgram(t, filepath.Join(t.TempDir(), "cardwall.db")) })
	t.Run("postgres", func(t *testing.T) { testTracesOfTheWholeProgram(t, apptest.PostgresURL(t)) })
}

func testTracesOfTheWholeProgram(t *testing.T, database string) {
	var (
		tree       spanTree
		deliveries atomic.Int64
		leaked     atomic.Pointer[string]
	)
	collectorServer := httptest.NewServer(&tree)
	t.Cleanup(collectorServer.Close)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if header := r.Header.Get("Traceparent"); header != "" {
			leaked.Store(&header)
		}
		deliveries.Add(1)
	}))
	t.Cleanup(receiver.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collectorServer.URL)
	s := newStation(t, database, "--log-level", "debug")
	const public, parent = "/api/public/v1", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	boardID := s.must("POST", public+"/boards", map[string]any{"workspaceId": s.workspace, "name": secretTitle})
	s.must("PATCH", public+"/boards/"+boardID, map[string]any{"features": map[string]any{"automation": true}})
	list := s.must("POST", public+"/boards/"+boardID+"/lists", map[string]any{"name": secretTitle})
	s.must("POST", public+"/webhooks",
		map[string]any{"boardId": boardID, "url": receiver.URL + "/" + secretPath, "events": []string{"card.created"}})
	s.must("POST", "/api/app/v1/boards/"+boardID+"/rules", map[string]any{
		"name": secretTitle, "when": map[string]any{"event": "card_created"},
		"then": []any{map[string]any{"operation": "add_comment", "input": map[string]any{"text": secretTitle}}},
	})
	s.must("POST", public+"/workspaces/"+s.workspace+"/invitations",
		map[string]any{"email": "second." + secretEmail, "role": "member"})
	// On PostgreSQL, the server must first acquire its share of the webhooks, so the first delivery can
	// take a few seconds.
	apptest.Eventually(t, "the webhook receives a delivery", func() bool {
		s.must("POST", public+"/cards", map[string]any{"listId": list, "title": secretTitle})
		return deliveries.Load() > 0
	})
	res, _ := s.send("POST", public+"/cards", map[string]any{"listId": list, "title": secretTitle,
		"description": secretTitle}, "Traceparent", parent, "X-Request-Id", "mine-1")
	if res.StatusCode != http.StatusCreated || res.Header.Get("X-Request-Id") != "mine-1" ||
		!strings.HasPrefix(res.Header.Get("Traceresponse"), parent[:36]) {
		t.Fatalf("create_card returned %d with headers %v, want 201, the request id and the trace", res.StatusCode, res.Header)
	}
	s.send("GET", public+"/cards/crd_0?token="+s.token, nil)
	s.send("GET", "/p/"+secretPath, nil)
	s.send("BREW", "/"+secretPath, nil)
	s.send("GET", "/readyz", nil)
	s.send("GET", public+"/search?q=tungsten", nil) // its span would follow one of the health check

	var request, operation, transaction *otlp.Span
	apptest.Eventually(t, "the collector has the span of the request", func() bool {
		request = tree.find(func(s *otlp.Span) bool {
			return hex.EncodeToString(s.TraceId) == parent[3:35] && s.Kind == otlp.Span_SPAN_KIND_SERVER
		})
		return request != nil
	})
	if request.Name != "POST /api/public/v1/cards" || attribute(request, "http.route") != "/api/public/v1/cards" ||
		hex.EncodeToString(request.ParentSpanId) != parent[36:52] {
		t.Errorf("got request span %v, want the name, route and parent of the request", request)
	}
	if operation = tree.child(request, "create_card"); operation == nil || attribute(operation, "cardwall.outcome") != "ok" {
		t.Fatalf("the request span has no child create_card with the outcome ok: %v", operation)
	}
	if transaction = tree.child(operation, "write transaction"); transaction == nil {
		t.Fatal("the operation span has no child for the transaction")
	}
	system := "sqlite"
	if sqldb.IsPostgres(database) {
		system = "postgresql"
	}
	for _, name := range []string{"queue", "commit", "INSERT cards", "UPDATE boards", "SELECT"} {
		child := tree.child(transaction, name)
		if child == nil {
			t.Errorf("the transaction span has no child %s", name)
			continue
		}
		if child.StartTimeUnixNano < transaction.StartTimeUnixNano || child.EndTimeUnixNano > transaction.EndTimeUnixNano {
			t.Errorf("the span %s is not within the span of its transaction", name)
		}
		if strings.HasPrefix(name, "INSERT") && (attribute(child, "db.system.name") != system ||
			!strings.Contains(attribute(child, "db.query.text"), "$1") || child.Kind != otlp.Span_SPAN_KIND_CLIENT) {
			t.Errorf("got statement span %v, want a client span of %s with placeholders", child, system)
		}
	}
	apptest.Eventually(t, "the span of the delivery links to the transaction", func() bool {
		return tree.find(func(s *otlp.Span) bool {
			return s.Kind == otlp.Span_SPAN_KIND_CLIENT && attribute(s, "cardwall.event.type") == "card.created" &&
				len(s.Links) == 1 &&
				string(s.Links[0].SpanId) == string(transaction.SpanId) && string(s.TraceId) != string(transaction.TraceId)
		}) != nil
	})
	for _, name := range []string{"automation run", "send email", "GET /api/public/v1/cards/{cardId}",
		"GET /api/public/v1/search"} {
		var found *otlp.Span
		apptest.Eventually(t, "the collector has the span "+name, func() bool {
			found = tree.find(func(s *otlp.Span) bool { return s.Name == name && len(s.ParentSpanId) == 0 })
			return found != nil
		})
		if !strings.HasPrefix(name, "send") && tree.find(func(s *otlp.Span) bool {
			return string(s.ParentSpanId) == string(found.SpanId)
		}) == nil {
			t.Errorf("span %s has no children", name)
		}
	}
	apptest.Eventually(t, "the log contains the trace id", func() bool {
		return strings.Contains(s.log.String(), `"operation":"create_card","status":201`) &&
			strings.Contains(s.log.String(), `"trace_id":"`+parent[3:35])
	})
	if leaked.Load() != nil {
		t.Errorf("the webhook receiver got Traceparent header %s, want none", *leaked.Load())
	}
	if probe := tree.find(func(s *otlp.Span) bool { return strings.Contains(s.Name, "readyz") }); probe != nil {
		t.Errorf("a health check was traced: %v", probe)
	}
	tree.mu.Lock()
	defer tree.mu.Unlock()
	s.checkNoSecrets("a trace", string(tree.bodies))
	s.checkNoSecrets("the log", s.log.String())
	s.checkNoSecrets("a metric", s.scrape())
}
