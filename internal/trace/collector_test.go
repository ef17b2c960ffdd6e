package trace_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is a collector that stores the requests it receives. It decodes them with
// OpenTelemetry's own messages.
type receiver struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	statuses []int // statuses of the next responses; 200 when used up
	requests []*http.Request
	got      []*spans.ResourceSpans
}

func newReceiver(t *testing.T, statuses ...int) *receiver {
	r := &receiver{t: t, statuses: statuses}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body := io.Reader(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(q.Body); err != nil {
			r.t.Errorf("decompress the body: %v", err)
			return
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		r.t.Errorf("read the body: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, q)
	status := http.StatusOK
	if len(r.statuses) > 0 {
		status, r.statuses = r.statuses[0], r.statuses[1:]
	}
	if status == http.StatusOK {
		var m collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(text, &m); err != nil {
			r.t.Errorf("decode the body: %v", err)
		}
		if unknown := m.ProtoReflect().GetUnknown(); len(unknown) > 0 {
			r.t.Errorf("got fields that are unknown to OTLP: %x", unknown)
		}
		r.got = append(r.got, m.ResourceSpans...)
	}
	w.Header().Set("Location", "/elsewhere") // for redirects
	w.WriteHeader(status)
}

// spans returns all spans received so far, by name.
func (r *receiver) spans() map[string]*spans.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]*spans.Span{}
	for _, resource := range r.got {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				found[s.Name] = s
			}
		}
	}
	return found
}
