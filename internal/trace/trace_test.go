package trace_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"

	"cardwall/internal/apptest"
	"cardwall/internal/trace"
)

// tracer returns a tracer that sends to the collector at the address. The variables are
// alternating names and values of environment variables.
func tracer(t testing.TB, address string, variables ...string) *trace.Tracer {
	t.Helper()
	to, err := configured(t, append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT", address}, variables...)...)
	if err != nil || to == nil {
		t.Fatalf("got tracer %v and error %v, want a tracer", to, err)
	}
	t.Cleanup(func() { to.Close(context.Background()) })
	return to
}

// configured returns the tracer that the given environment variables configure.
func configured(t testing.TB, variables ...string) (*trace.Tracer, error) {
	t.Helper()
	for i := 0; i < len(variables); i += 2 {
		t.Setenv(variables[i], variables[i+1])
	}
	return trace.New("1.2.3", slog.New(slog.NewTextHandler(t.Output(), nil)))
}

func request(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestSpansReachACollector(t *testing.T) {
	for _, compression := range []string{"none", "gzip"} {
		t.Run(compression, func(t *testing.T) {
			r := newReceiver(t)
			to := tracer(t, r.URL+"/", "OTEL_EXPORTER_OTLP_COMPRESSION", compression, "OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=y",
				"OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test", "OTEL_SERVICE_NAME", "wall")
			_, cause := to.Start(t.Context(), "cause", trace.Internal, trace.Link{})
			ctx, root := to.Receive(request("Traceparent", parent, "Tracestate", "a=1,b=2"), "GET")
			header := http.Header{}
			root.SetHeader(header)
			_, below := trace.Begin(ctx, "below", trace.Client)
			below.Text("db.query.text", strings.Repeat("é", 3000))
			below.Number("rows", -7)
			below.Fail("unavailable")
			below.End()
			began := time.Now()
			root.Past("past", began.Add(-time.Second), began).End()
			root.Name("GET /cards")
			root.End()
			cause.End()
			_, linked := to.Start(t.Context(), "linked", trace.Client, cause.Link())
			linked.End()
			to.Close(t.Context())

			q := r.requests[0]
			if q.Method != http.MethodPost || q.URL.Path != "/v1/traces" || q.Header.Get("Content-Type") != "application/x-protobuf" ||
				q.Header.Get("Api-Key") != "a b" || q.Header.Get("X") != "y" {
				t.Errorf("got request %s %s with headers %v, want POST /v1/traces with the configured headers", q.Method, q.URL, q.Header)
			}
			resource := map[string]string{}
			for _, a := range r.got[0].Resource.Attributes {
				resource[a.Key] = a.Value.GetStringValue()
			}
			if resource["service.name"] != "wall" || resource["service.version"] != "1.2.3" ||
				resource["deployment.environment.name"] != "test" {
				t.Errorf("got resource %v, want the name, version and environment of the service", resource)
			}
			got := r.spans()
			parentSpan, child, past, other := got["GET /cards"], got["below"], got["past"], got["linked"]
			if parentSpan == nil || child == nil || past == nil || other == nil || got["cause"] == nil {
				t.Fatalf("got the spans %v, want five", got)
			}
			if hex.EncodeToString(parentSpan.TraceId) != parent[3:35] || hex.EncodeToString(parentSpan.ParentSpanId) != parent[36:52] ||
				parentSpan.TraceState != "a=1,b=2" || parentSpan.Kind != spans.Span_SPAN_KIND_SERVER || parentSpan.Flags != 0x301 {
				t.Errorf("got span %v, want one in the caller's trace", parentSpan)
			}
			if want := "00-" + parent[3:35] + "-" + hex.EncodeToString(parentSpan.SpanId) + "-01"; header.Get("Traceresponse") != want {
				t.Errorf("got traceresponse %q, want %q", header.Get("Traceresponse"), want)
			}
			if !bytes.Equal(child.ParentSpanId, parentSpan.SpanId) || !bytes.Equal(child.TraceId, parentSpan.TraceId) ||
				child.Kind != spans.Span_SPAN_KIND_CLIENT || child.Flags != 0x101 {
				t.Errorf("got child span %v, want the parent %x", child, parentSpan.SpanId)
			}
			if child.Status.GetCode() != spans.Status_STATUS_CODE_ERROR || parentSpan.Status.GetCode() != spans.Status_STATUS_CODE_UNSET {
				t.Errorf("got statuses %v and %v, want an error only for the child", child.Status, parentSpan.Status)
			}
			if a := child.Attributes; len(a) != 3 || len(a[0].Value.GetStringValue()) != 4096 || a[1].Value.GetIntValue() != -7 ||
				a[2].Key != "error.type" || a[2].Value.GetStringValue() != "unavailable" {
				t.Errorf("got attributes %v, want the truncated text, the number and the error", child.Attributes)
			}
			if took := past.EndTimeUnixNano - past.StartTimeUnixNano; took != uint64(time.Second) {
				t.Errorf("past span: got a duration of %d ns, want 1 s", took)
			}
			if child.EndTimeUnixNano < child.StartTimeUnixNano || child.StartTimeUnixNano < parentSpan.StartTimeUnixNano ||
				child.EndTimeUnixNano > parentSpan.EndTimeUnixNano {
				t.Errorf("got a child span from %d to %d, want it within its parent from %d to %d", child.StartTimeUnixNano, child.EndTimeUnixNano,
					parentSpan.StartTimeUnixNano, parentSpan.EndTimeUnixNano)
			}
			if l := other.Links; len(l) != 1 || !bytes.Equal(l[0].TraceId, got["cause"].TraceId) ||
				!bytes.Equal(l[0].SpanId, got["cause"].SpanId) || bytes.Equal(other.TraceId, l[0].TraceId) {
				t.Errorf("got links %v, want one to another trace", l)
			}
			if to.Sent() != 5 || to.Lost() != 0 {
				t.Errorf("got %d spans sent and %d lost, want 5 and 0", to.Sent(), to.Lost())
			}
		})
	}
}

func TestTraceparent(t *testing.T) {
	r := newReceiver(t)
	to := tracer(t, r.URL)
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for header, want := range map[string]bool{ // whether the request joins the trace
		parent:                              true,
		"00-" + id + "-" + span + "-03":     true,
		"cc-" + id + "-" + span + "-01":     true, // a later version
		"cc-" + id + "-" + span + "-01-new": true,
		"":                                  false,
		"00":                                false,
		"ff-" + id + "-" + span + "-01":     false,
		"00-" + id + "-" + span + "-01-new": false,
		"cc-" + id + "-" + span + "-01new":  false,
		"00-" + strings.ToUpper(id) + "-" + span + "-01":     false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01": false,
		"00-" + id + "-" + strings.Repeat("0", 16) + "-01":   false,
		"00-" + id + "-" + span[1:] + "g-01":                 false,
		"00_" + id + "-" + span + "-01":                      false,
	} {
		q := request()
		if header != "" {
			q.Header.Set("Traceparent", header)
		}
		_, s := to.Receive(q, "x")
		if got := s.TraceID() == id; s == nil || got != want {
			t.Errorf("traceparent %q: span in the sender's trace: got %v, want %v", header, got, want)
		}
		s.End()
	}
	_, s := to.Receive(request("Traceparent", parent, "Traceparent", parent), "x")
	if s.TraceID() == id {
		t.Error("two traceparent headers: got a span in the sender's trace, want a new trace")
	}
	s.End()
}

func TestSamplers(t *testing.T) {
	r := newReceiver(t)
	const unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	for _, c := range []struct {
		sampler, argument string
		// Whether a request is recorded: without a parent, with a sampled one, with an unsampled one.
		alone, sampled, other bool
	}{
		{"", "", true, true, false},
		{"always_on", "", true, true, true},
		{"always_off", "", false, false, false},
		{"traceidratio", "0", false, false, false},
		{"traceidratio", "1", true, true, true},
		{"parentbased_always_off", "", false, true, false},
		{"parentbased_traceidratio", "0.0", false, true, false},
		{"parentbased_traceidratio", "", true, true, false},
	} {
		to := tracer(t, r.URL, "OTEL_TRACES_SAMPLER", c.sampler, "OTEL_TRACES_SAMPLER_ARG", c.argument)
		for header, want := range map[string]bool{"": c.alone, parent: c.sampled, unsampled: c.other} {
			q := request()
			if header != "" {
				q.Header.Set("Traceparent", header)
			}
			ctx, s := to.Receive(q, "x")
			if (s != nil) != want || trace.Of(ctx) != s {
				t.Errorf("%s %s: request with traceparent %q: got recorded %v, want %v", c.sampler, c.argument, header, s != nil, want)
			}
			s.End()
		}
	}
	quarter, recorded := tracer(t, r.URL, "OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "0.25"), 0
	for range 10_000 {
		if _, s := quarter.Start(t.Context(), "x", trace.Internal, trace.Link{}); s != nil {
			recorded++
		}
	}
	if recorded < 2_200 || recorded > 2_800 { // more than six standard deviations
		t.Errorf("got %d of 10,000 traces recorded, want about a quarter", recorded)
	}
}

func TestFailingCollector(t *testing.T) {
	for _, c := range []struct {
		name       string
		statuses   []int // statuses of the collector's responses
		sent, lost int64
		requests   int
	}{
		{"503 is retried", []int{503}, 1, 0, 2},
		{"400 is not retried", []int{400, 200}, 0, 1, 1},
		{"redirects are not followed", []int{307, 200}, 0, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReceiver(t, c.statuses...)
			to := tracer(t, r.URL)
			_, s := to.Start(t.Context(), "x", trace.Internal, trace.Link{})
			s.End()
			to.Close(t.Context())
			if to.Sent() != c.sent || to.Lost() != c.lost || len(r.requests) != c.requests {
				t.Errorf("got %d sent and %d lost in %d requests; want %d and %d in %d", to.Sent(), to.Lost(),
					len(r.requests), c.sent, c.lost, c.requests)
			}
		})
	}
	t.Run("a hanging collector does not block the program", func(t *testing.T) {
		stuck := make(chan struct{})
		hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
		t.Cleanup(hangs.Close)
		t.Cleanup(func() { close(stuck) })
		to := tracer(t, hangs.URL, "OTEL_BSP_MAX_QUEUE_SIZE", "4", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2", "OTEL_EXPORTER_OTLP_TIMEOUT", "600000")
		for range 1000 {
			_, s := to.Start(t.Context(), "x", trace.Internal, trace.Link{})
			s.End()
		}
		if to.Lost() < 990 {
			t.Errorf("got %d of 1000 spans lost, want almost all", to.Lost())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		closed := make(chan struct{})
		go func() {
			to.Close(ctx)
			close(closed)
		}()
		apptest.Receive(t, "the tracer is closed, before the ten minutes of the request's own timeout", closed)
		_, late := to.Start(t.Context(), "late", trace.Internal, trace.Link{})
		late.End()
		if to.Lost() != 1001 {
			t.Errorf("got %d spans lost, want 1001", to.Lost())
		}
	})
}

// The log explains why traces are lost. It contains neither the path of the collector's URL nor the
// headers, because both may be secret. It contains only the start of a long response.
func TestLogExplainsLostTraces(t *testing.T) {
	for name, respond := range map[string]http.HandlerFunc{
		"rejected": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no such tenant: "+r.URL.Path+strings.Repeat("x", 10_000), http.StatusBadRequest)
		},
		"connection closed": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			at := httptest.NewServer(respond)
			t.Cleanup(at.Close)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at.URL+"/secret%20path/")
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret")
			var out bytes.Buffer
			to, err := trace.New("1.2.3", slog.New(slog.NewJSONHandler(&out, nil)))
			if err != nil {
				t.Fatal(err)
			}
			_, s := to.Start(t.Context(), "x", trace.Internal, trace.Link{})
			s.End()
			to.Close(t.Context())
			text := out.String()
			if !strings.Contains(text, `"msg":"traces not sent to the collector","spans":1,"lost":1,"error":"`) ||
				!strings.Contains(text, strings.TrimPrefix(at.URL, "http://")) {
				t.Errorf("got log %s, want the number of lost spans and the error", text)
			}
			if strings.Contains(text, "secret") || len(text) > 1_500 {
				t.Errorf("got log %s, want a short line without secrets", text)
			}
		})
	}
}

func TestNilTracerRecordsNothing(t *testing.T) {
	var none *trace.Tracer
	ctx := t.Context()
	q := request("Traceparent", parent)
	if n := testing.AllocsPerRun(100, func() {
		_, s := none.Start(ctx, "x", trace.Client, trace.Link{})
		_, r := none.Receive(q, "x")
		below, b := trace.Begin(ctx, "x", trace.Internal)
		if s != nil || r != nil || b != nil || below != ctx {
			t.Fatal("got a span, want nil")
		}
		b.Text("a", "b")
		b.Number("a", 1)
		b.Begin("x", trace.Client).End()
		b.Fail("x")
		b.End()
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
	none.Close(ctx)
}

func TestLogsContainTraceIDs(t *testing.T) {
	r := newReceiver(t)
	to := tracer(t, r.URL)
	ctx, s := to.Receive(request("Traceparent", parent), "x")
	defer s.End()
	var out bytes.Buffer
	log := slog.New(trace.Logs(slog.NewTextHandler(&out, nil))).With("a", "b")
	log.InfoContext(ctx, "one")
	log.Info("two")
	one, two, _ := strings.Cut(out.String(), "\n")
	if want := "trace_id=" + parent[3:35] + " span_id=" + s.ID(); !strings.Contains(one, want) || !strings.Contains(one, "a=b") ||
		strings.Contains(two, "trace_id") {
		t.Errorf("got log lines %q and %q, want %q only in the first", one, two, want)
	}
}

func TestEnvironment(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, off := range [][]string{nil, {endpoint, "http://c:4318", "OTEL_SDK_DISABLED", "true"},
		{endpoint, "http://c:4318", "OTEL_TRACES_EXPORTER", "none"}} {
		t.Run(strings.Join(off, " "), func(t *testing.T) {
			if to, err := configured(t, off...); to != nil || err != nil {
				t.Errorf("got a tracer: %v, error %v, want neither", to != nil, err)
			}
		})
	}
	r := newReceiver(t)
	for general, traces := range map[string]string{r.URL + "/otlp": "", "http://nowhere.invalid": r.URL + "/otlp/v1/traces"} {
		t.Run("to "+general, func(t *testing.T) {
			to := tracer(t, general, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces, "OTEL_EXPORTER_OTLP_HEADERS", "a=b",
				"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=c", "OTEL_RESOURCE_ATTRIBUTES", "a=b", "OTEL_BSP_SCHEDULE_DELAY", "1",
				"OTEL_EXPORTER_OTLP_INSECURE", "false")
			_, s := to.Start(t.Context(), "x", trace.Internal, trace.Link{})
			s.End()
			to.Close(t.Context())
			r.mu.Lock()
			defer r.mu.Unlock()
			if to.Sent() != 1 {
				t.Fatalf("got %d spans sent, want 1", to.Sent())
			}
			q := r.requests[len(r.requests)-1]
			if q.URL.Path != "/otlp/v1/traces" || q.Header.Get("A") != "c" {
				t.Errorf("got request to %s with headers %v, want /otlp/v1/traces and the header A: c", q.URL, q.Header)
			}
			attributes := r.got[len(r.got)-1].Resource.Attributes
			if !slices.ContainsFunc(attributes, func(a *common.KeyValue) bool {
				return a.Key == "service.name" && a.Value.GetStringValue() == "cardwall"
			}) {
				t.Errorf("got resource attributes %v, want service.name cardwall", attributes)
			}
		})
	}
	for _, bad := range [][]string{
		{endpoint, "c:4317"},
		{endpoint, "ftp://c"},
		{endpoint, "http://secret-without-a-name@c"},
		{endpoint, "http://c?key=secret-without-a-name"},
		{endpoint, "http://c", "OTEL_TRACES_EXPORTER", "zipkin"},
		{endpoint, "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
		{endpoint, "http://c", "OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
		{endpoint, "http://c", "OTEL_EXPORTER_OTLP_HEADERS", "secret-without-a-name"},
		{endpoint, "http://c", "OTEL_EXPORTER_OTLP_HEADERS", "secret-without-a-name%zz=secret-without-a-name%zz"},
		{endpoint, "http://c", "OTEL_RESOURCE_ATTRIBUTES", "x"},
		{endpoint, "http://c", "OTEL_TRACES_SAMPLER", "sometimes"},
		{endpoint, "http://c", "OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "2"},
		{endpoint, "http://c", "OTEL_BSP_MAX_QUEUE_SIZE", "0"},
		{endpoint, "http://c", "OTEL_BSP_SCHEDULE_DELAY", "5s"},
		{endpoint, "http://c", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "-1"},
		{endpoint, "https://c", "OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere"},
		{endpoint, "https://c", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/nowhere", "OTEL_EXPORTER_OTLP_CLIENT_KEY", "/nowhere"},
	} {
		t.Run(strings.Join(bad, " "), func(t *testing.T) {
			to, err := configured(t, bad...)
			if err == nil || to != nil || !strings.Contains(err.Error(), "OTEL_") || strings.Contains(err.Error(), "secret-without") {
				t.Errorf("got a tracer: %v, error %v; want an error that names the variable", to != nil, err)
			}
		})
	}
}
