package trace_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"cardwall/internal/trace"
)

// BenchmarkRequest records the spans of a typical request: the request, its
// operation, a transaction and three statements.
func BenchmarkRequest(b *testing.B) {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	for _, c := range []struct {
		name    string
		tracing bool
		header  string
	}{{"off", false, parent}, {"on", true, parent}, {"not sampled", true, parent[:53] + "00"}} {
		b.Run(c.name, func(b *testing.B) {
			var to *trace.Tracer
			if c.tracing {
				to = tracer(b, collector.URL)
			}
			r := request("Traceparent", c.header)
			b.ReportAllocs()
			for b.Loop() {
				ctx, root := to.Receive(r, "GET /cards/{id}")
				ctx, operation := trace.Begin(ctx, "get_card", trace.Internal)
				_, transaction := trace.Begin(ctx, "read transaction", trace.Internal)
				for range 3 {
					s := transaction.Begin("SELECT cards", trace.Client)
					s.Text("db.system.name", "sqlite")
					s.Text("db.query.text", "SELECT id, title FROM cards WHERE id = $1")
					s.End()
				}
				transaction.End()
				operation.End()
				root.Number("http.response.status_code", 200)
				root.End()
			}
		})
	}
}
