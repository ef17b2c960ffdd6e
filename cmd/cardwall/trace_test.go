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

// spanTree collects exported spans.
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

// find returns the first span that matches.
func (c *spanTree) find(so func(*otlp.Span) bool) *otlp.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.all {
		if so(s) {
			return s
		}
	}
	return nil
}

// below returns a span by its parent and the beginning of its name.
func (c *spanTree) below(parent *otlp.Span, name string) *otlp.Span {
	return c.find(func(s *otlp.Span) bool {
		return string(s.ParentSpanId) == string(parent.SpanId) && string(s.TraceId) == string(parent.TraceId) &&
			strings.HasPrefix(s.Name, name)
	})
}

func noted(s *otlp.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// A request is traced from its caller's trace through operation, transaction and statements.
// Deliveries, rules and emails have their own traces. No trace contains content of a board or
// addresses.
func TestTracesOfTheWholeProgram(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1000000")
	t.Run("sqlite", func(t *testing.T) { tracesOfTheWholeProgram(t, filepath.Join(t.TempDir(), "cardwall.db")) })
	t.Run("postgres", func(t *testing.T) { tracesOfTheWholeProgram(t, apptest.PostgresURL(t)) })
}

func tracesOfTheWholeProgram(t *testing.T, database string) {
	var (
		tree    spanTree
		arrived atomic.Int64
		leaked  atomic.Pointer[string]
	)
	at := httptest.NewServer(&tree)
	t.Cleanup(at.Close)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if name := r.Header.Get("Traceparent"); name != "" {
			leaked.Store(&name)
		}
		arrived.Add(1)
	}))
	t.Cleanup(receiver.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at.URL)
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
	// On PostgreSQL, a server first acquires its share of the webhooks.
	s.eventually("the webhook works", func() bool {
		s.must("POST", public+"/cards", map[string]any{"listId": list, "title": secretTitle})
		return arrived.Load() > 0
	})
	res, _ := s.send("POST", public+"/cards", map[string]any{"listId": list, "title": secretTitle,
		"description": secretTitle}, "Traceparent", parent, "X-Request-Id", "mine-1")
	if res.StatusCode != http.StatusCreated || res.Header.Get("X-Request-Id") != "mine-1" ||
		!strings.HasPrefix(res.Header.Get("Traceresponse"), parent[:36]) {
		t.Fatalf("create_card returned %d with the headers %v", res.StatusCode, res.Header)
	}
	s.send("GET", public+"/cards/crd_0?token="+s.token, nil)
	s.send("GET", public+"/search?q=tungsten", nil)
	s.send("GET", "/p/"+secretPath, nil)
	s.send("BREW", "/"+secretPath, nil)
	s.send("GET", "/readyz", nil)

	var request, operation, transaction *otlp.Span
	s.eventually("the request of the caller's trace is sent", func() bool {
		request = tree.find(func(s *otlp.Span) bool {
			return hex.EncodeToString(s.TraceId) == parent[3:35] && s.Kind == otlp.Span_SPAN_KIND_SERVER
		})
		return request != nil
	})
	if request.Name != "POST /api/public/v1/cards" || noted(request, "http.route") != "/api/public/v1/cards" ||
		hex.EncodeToString(request.ParentSpanId) != parent[36:52] {
		t.Errorf("the span of the request is %v", request)
	}
	if operation = tree.below(request, "create_card"); operation == nil || noted(operation, "cardwall.outcome") != "ok" {
		t.Fatalf("the request's span has no operation below it: %v", operation)
	}
	if transaction = tree.below(operation, "write transaction"); transaction == nil {
		t.Fatal("the operation's span has no transaction below it")
	}
	system, parts := "sqlite", []string{"queue", "commit", "INSERT cards", "UPDATE boards", "SELECT"}
	if sqldb.IsPostgres(database) {
		system, parts[0] = "postgresql", "begin"
	}
	for _, name := range parts {
		part := tree.below(transaction, name)
		if part == nil {
			t.Errorf("the transaction's span has no %s below it", name)
			continue
		}
		if part.StartTimeUnixNano < transaction.StartTimeUnixNano || part.EndTimeUnixNano > transaction.EndTimeUnixNano {
			t.Errorf("%s is outside of its transaction", name)
		}
		if strings.HasPrefix(name, "INSERT") && (noted(part, "db.system.name") != system ||
			!strings.Contains(noted(part, "db.query.text"), "$1") || part.Kind != otlp.Span_SPAN_KIND_CLIENT) {
			t.Errorf("the span of a statement is %v", part)
		}
	}
	s.eventually("the delivery is linked to what caused it", func() bool {
		return tree.find(func(s *otlp.Span) bool {
			return s.Kind == otlp.Span_SPAN_KIND_CLIENT && noted(s, "cardwall.event.type") == "card.created" &&
				len(s.Links) == 1 &&
				string(s.Links[0].SpanId) == string(transaction.SpanId) && string(s.TraceId) != string(transaction.TraceId)
		}) != nil
	})
	for _, name := range []string{"automation run", "send email", "GET /api/public/v1/cards/{cardId}",
		"GET /api/public/v1/search"} {
		var found *otlp.Span
		s.eventually("there is "+name, func() bool {
			found = tree.find(func(s *otlp.Span) bool { return s.Name == name && len(s.ParentSpanId) == 0 })
			return found != nil
		})
		if !strings.HasPrefix(name, "send") && tree.find(func(s *otlp.Span) bool {
			return string(s.ParentSpanId) == string(found.SpanId)
		}) == nil {
			t.Errorf("%s has no spans below it", name)
		}
	}
	s.eventually("the log names the trace", func() bool {
		return strings.Contains(s.log.String(), `"operation":"create_card","status":201`) &&
			strings.Contains(s.log.String(), `"trace_id":"`+parent[3:35])
	})
	if leaked.Load() != nil {
		t.Errorf("the webhook's receiver got a trace header: %s", *leaked.Load())
	}
	if probe := tree.find(func(s *otlp.Span) bool { return strings.Contains(s.Name, "readyz") }); probe != nil {
		t.Errorf("a health check was traced: %v", probe)
	}
	tree.mu.Lock()
	defer tree.mu.Unlock()
	s.keepsSecrets("a trace", string(tree.bodies))
	s.keepsSecrets("the log", s.log.String())
	s.keepsSecrets("a metric", s.scrape())
}
