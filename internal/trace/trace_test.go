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

	"cardwall/internal/trace"
)

// tracer returns a tracer for a collector's address, with environment variables as
// alternating names and values.
func tracer(t testing.TB, address string, variables ...string) *trace.Tracer {
	t.Helper()
	made, err := configured(t, append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT", address}, variables...)...)
	if err != nil || made == nil {
		t.Fatalf("the settings are not accepted: %v %v", made, err)
	}
	t.Cleanup(func() { made.Close(context.Background()) })
	return made
}

// configured returns what the variables configure.
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
	for _, packing := range []string{"none", "gzip"} {
		t.Run(packing, func(t *testing.T) {
			r := newReceiver(t)
			to := tracer(t, r.URL+"/", "OTEL_EXPORTER_OTLP_COMPRESSION", packing, "OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=y",
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
				t.Errorf("the collector got %s %s with %v", q.Method, q.URL, q.Header)
			}
			about := map[string]string{}
			for _, a := range r.got[0].Resource.Attributes {
				about[a.Key] = a.Value.GetStringValue()
			}
			if about["service.name"] != "wall" || about["service.version"] != "1.2.3" || about["deployment.environment.name"] != "test" {
				t.Errorf("the resource is %v", about)
			}
			got := r.spans()
			whole, part, past, other := got["GET /cards"], got["below"], got["past"], got["linked"]
			if whole == nil || part == nil || past == nil || other == nil || got["cause"] == nil {
				t.Fatalf("got the spans %v, want five", got)
			}
			if hex.EncodeToString(whole.TraceId) != parent[3:35] || hex.EncodeToString(whole.ParentSpanId) != parent[36:52] ||
				whole.TraceState != "a=1,b=2" || whole.Kind != spans.Span_SPAN_KIND_SERVER || whole.Flags != 0x301 {
				t.Errorf("the caller's trace is not continued: %v", whole)
			}
			if want := "00-" + parent[3:35] + "-" + hex.EncodeToString(whole.SpanId) + "-01"; header.Get("Traceresponse") != want {
				t.Errorf("the traceresponse is %q, want %q", header.Get("Traceresponse"), want)
			}
			if !bytes.Equal(part.ParentSpanId, whole.SpanId) || !bytes.Equal(part.TraceId, whole.TraceId) ||
				part.Kind != spans.Span_SPAN_KIND_CLIENT || part.Flags != 0x101 {
				t.Errorf("the child span has the wrong parent: %v", part)
			}
			if part.Status.GetCode() != spans.Status_STATUS_CODE_ERROR || whole.Status.GetCode() != spans.Status_STATUS_CODE_UNSET {
				t.Errorf("the states are %v and %v", part.Status, whole.Status)
			}
			if a := part.Attributes; len(a) != 3 || len(a[0].Value.GetStringValue()) != 4096 || a[1].Value.GetIntValue() != -7 ||
				a[2].Key != "error.type" || a[2].Value.GetStringValue() != "unavailable" {
				t.Errorf("the attributes are %v", part.Attributes)
			}
			if took := past.EndTimeUnixNano - past.StartTimeUnixNano; took != uint64(time.Second) {
				t.Errorf("the past span took %d ns", took)
			}
			if part.EndTimeUnixNano < part.StartTimeUnixNano || part.StartTimeUnixNano < whole.StartTimeUnixNano ||
				part.EndTimeUnixNano > whole.EndTimeUnixNano {
				t.Errorf("the child span lasts from %d to %d, its parent from %d to %d", part.StartTimeUnixNano, part.EndTimeUnixNano,
					whole.StartTimeUnixNano, whole.EndTimeUnixNano)
			}
			if l := other.Links; len(l) != 1 || !bytes.Equal(l[0].TraceId, got["cause"].TraceId) ||
				!bytes.Equal(l[0].SpanId, got["cause"].SpanId) || bytes.Equal(other.TraceId, l[0].TraceId) {
				t.Errorf("the links are %v", l)
			}
			if to.Sent() != 5 || to.Lost() != 0 {
				t.Errorf("%d sent and %d lost, want 5 and 0", to.Sent(), to.Lost())
			}
		})
	}
}

func TestTraceparent(t *testing.T) {
	r := newReceiver(t)
	to := tracer(t, r.URL)
	const id, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for given, follows := range map[string]bool{
		parent:                              true,
		"00-" + id + "-" + span + "-03":     true,
		"cc-" + id + "-" + span + "-01":     true, // of a later version
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
		if given != "" {
			q.Header.Set("Traceparent", given)
		}
		_, s := to.Receive(q, "x")
		if got := s.TraceID() == id; s == nil || got != follows {
			t.Errorf("traceparent %q: followed %v, want %v", given, got, follows)
		}
		s.End()
	}
	_, s := to.Receive(request("Traceparent", parent, "Traceparent", parent), "x")
	if s.TraceID() == id {
		t.Error("one of two traceparent headers was used")
	}
	s.End()
}

func TestSamplers(t *testing.T) {
	r := newReceiver(t)
	const unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	for _, c := range []struct {
		sampler, argument     string
		alone, sampled, other bool // whether a request is recorded: without a parent, with a sampled parent, with another parent
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
				t.Errorf("%s %s: a request with %q is recorded: %v, want %v", c.sampler, c.argument, header, s != nil, want)
			}
			s.End()
		}
	}
	half, recorded := tracer(t, r.URL, "OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "0.25"), 0
	for range 10_000 {
		if _, s := half.Start(t.Context(), "x", trace.Internal, trace.Link{}); s != nil {
			recorded++
		}
	}
	if recorded < 2_200 || recorded > 2_800 { // more than six standard deviations
		t.Errorf("%d of 10,000 traces are recorded, want about a quarter", recorded)
	}
}

func TestFailingCollector(t *testing.T) {
	for _, c := range []struct {
		name       string
		answers    []int
		sent, lost int64
		requests   int
	}{
		{"again after 503", []int{503}, 1, 0, 2},
		{"not after 400", []int{400, 200}, 0, 1, 1},
		{"not to another address", []int{307, 200}, 0, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReceiver(t, c.answers...)
			to := tracer(t, r.URL)
			_, s := to.Start(t.Context(), "x", trace.Internal, trace.Link{})
			s.End()
			to.Close(t.Context())
			if to.Sent() != c.sent || to.Lost() != c.lost || len(r.requests) != c.requests {
				t.Errorf("%d sent, %d lost in %d requests; want %d, %d in %d", to.Sent(), to.Lost(), len(r.requests), c.sent, c.lost, c.requests)
			}
		})
	}
	t.Run("a hanging collector does not block the program", func(t *testing.T) {
		stuck := make(chan struct{})
		hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
		t.Cleanup(hangs.Close)
		t.Cleanup(func() { close(stuck) })
		to := tracer(t, hangs.URL, "OTEL_BSP_MAX_QUEUE_SIZE", "4", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2", "OTEL_EXPORTER_OTLP_TIMEOUT", "600000")
		begun := time.Now()
		for range 1000 {
			_, s := to.Start(t.Context(), "x", trace.Internal, trace.Link{})
			s.End()
		}
		if to.Lost() < 990 {
			t.Errorf("%d of 1000 spans were dropped while the collector hangs, want almost all", to.Lost())
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		to.Close(ctx)
		_, late := to.Start(t.Context(), "late", trace.Internal, trace.Link{})
		late.End()
		if to.Lost() != 1001 || time.Since(begun) > 5*time.Second { // the request's own timeout is ten minutes
			t.Errorf("%d spans were lost, want 1001; the shutdown took %s", to.Lost(), time.Since(begun))
		}
	})
}

// The path of the collector's URL and the headers may hold a secret, and the response may be long.
func TestLogSaysWhyTracesAreLost(t *testing.T) {
	for name, respond := range map[string]http.HandlerFunc{
		"refused": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no such tenant: "+r.URL.Path+strings.Repeat("x", 10_000), http.StatusBadRequest)
		},
		"cut off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
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
				t.Errorf("the log does not say what happened: %s", text)
			}
			if strings.Contains(text, "secret") || len(text) > 1_500 {
				t.Errorf("the log contains a secret or is long: %s", text)
			}
		})
	}
}

func TestNothingIsRecordedUnlessAsked(t *testing.T) {
	var none *trace.Tracer
	ctx := t.Context()
	q := request("Traceparent", parent)
	if n := testing.AllocsPerRun(100, func() {
		_, s := none.Start(ctx, "x", trace.Client, trace.Link{})
		_, r := none.Receive(q, "x")
		below, b := trace.Begin(ctx, "x", trace.Internal)
		if s != nil || r != nil || b != nil || below != ctx {
			t.Fatal("a span was created")
		}
		b.Text("a", "b")
		b.Number("a", 1)
		b.Begin("x", trace.Client).End()
		b.Fail("x")
		b.End()
	}); n != 0 {
		t.Errorf("recording nothing costs %v allocations, want 0", n)
	}
	none.Close(ctx)
}

func TestLogsNameTheTrace(t *testing.T) {
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
		t.Errorf("the lines are %q and %q, want %q in the first only", one, two, want)
	}
}

func TestEnvironment(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, off := range [][]string{nil, {endpoint, "http://c:4318", "OTEL_SDK_DISABLED", "true"},
		{endpoint, "http://c:4318", "OTEL_TRACES_EXPORTER", "none"}} {
		t.Run(strings.Join(off, " "), func(t *testing.T) {
			if made, err := configured(t, off...); made != nil || err != nil {
				t.Errorf("tracing is on: %v, error %v", made != nil, err)
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
				t.Fatalf("%d spans were sent, want 1", to.Sent())
			}
			q := r.requests[len(r.requests)-1]
			if q.URL.Path != "/otlp/v1/traces" || q.Header.Get("A") != "c" {
				t.Errorf("the spans came to %s with %v", q.URL, q.Header)
			}
			about := r.got[len(r.got)-1].Resource.Attributes
			if !slices.ContainsFunc(about, func(a *common.KeyValue) bool {
				return a.Key == "service.name" && a.Value.GetStringValue() == "cardwall"
			}) {
				t.Errorf("the resource is %v", about)
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
			made, err := configured(t, bad...)
			if err == nil || made != nil || !strings.Contains(err.Error(), "OTEL_") || strings.Contains(err.Error(), "secret-without") {
				t.Errorf("tracing is on: %v, error %v; want an error that names the variable", made != nil, err)
			}
		})
	}
}
