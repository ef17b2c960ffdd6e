package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

const (
	defaultQueue = 8192     // maximum number of waiting spans
	maxText      = 2 << 10  // maximum characters of a text attribute, such as a statement that writes many rows
	maxResponse  = 64 << 10 // maximum bytes of the collector's response
)

// retry configures the retries of batches that the collector temporarily rejects.
var retry = otlptracehttp.RetryConfig{
	Enabled: true, InitialInterval: time.Second, MaxInterval: 30 * time.Second, MaxElapsedTime: time.Minute,
}

// Tracer records spans and sends them. A nil Tracer records nothing.
type Tracer struct {
	tracer   api.Tracer
	queue    *queue
	exporter *exporter
	client   otlptrace.Client
}

// New returns a tracer configured by OpenTelemetry's environment variables, or nil if
// they name no collector or disable tracing. It returns an error if a variable has an
// invalid value. The tracer sends spans until it is closed. After New returns, SDK
// errors are logged.
func New(version string, log *slog.Logger) (*Tracer, error) {
	to, err := collector()
	if err != nil || to == nil {
		return nil, err
	}
	var invalid problems
	otel.SetErrorHandler(&invalid)
	otel.SetLogger(logr.New(&invalid))
	defer func() {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("tracing failed", "error", err) }))
		otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	}()
	// The scheme of the endpoint URL determines whether TLS is used. Without this option,
	// OTEL_EXPORTER_OTLP_INSECURE would take precedence, which is meant for gRPC.
	client := otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(to.String()), otlptracehttp.WithProxy(proxy),
		otlptracehttp.WithRetry(retry), otlptracehttp.WithMaxResponseSize(maxResponse))
	otlp, err := otlptrace.New(context.Background(), client)
	if err != nil {
		return nil, settingsError(err)
	}
	attributes, err := resource.New(context.Background(), resource.WithAttributes(attribute.String("service.name", "cardwall")),
		resource.WithFromEnv(), resource.WithAttributes(attribute.String("service.version", version)))
	if err != nil {
		return nil, settingsError(err)
	}
	limits := sdk.NewSpanLimits()
	if limits.AttributeValueLengthLimit == sdk.DefaultAttributeValueLengthLimit {
		limits.AttributeValueLengthLimit = maxText
	}
	e := &exporter{SpanExporter: otlp, log: log, hide: strings.NewReplacer()}
	if to.Path != "" && to.Path != "/" && to.Path != "/v1/traces" {
		e.hide = strings.NewReplacer(to.Path, "/…", (&url.URL{Path: to.Path}).EscapedPath(), "/…")
	}
	size := number("OTEL_BSP_MAX_QUEUE_SIZE", defaultQueue)
	q := &queue{SpanProcessor: sdk.NewBatchSpanProcessor(e, sdk.WithMaxQueueSize(size)), exporter: e, limit: int64(size)}
	provider := sdk.NewTracerProvider(sdk.WithResource(attributes), sdk.WithRawSpanLimits(limits),
		sdk.WithoutPanicRecording(), sdk.WithSpanProcessor(q))
	tracer := provider.Tracer("cardwall", api.WithInstrumentationVersion(version))
	t := &Tracer{tracer: tracer, queue: q, exporter: e, client: client}
	if err := errors.Join(invalid.all...); err != nil {
		t.Close(context.Background())
		return nil, settingsError(err)
	}
	service, _ := attributes.Set().Value("service.name")
	log.Info("sending traces", "service", service.AsString())
	return t, nil
}

func settingsError(err error) error {
	return fmt.Errorf("read the OpenTelemetry settings (OTEL_…): %w", err)
}

// proxy returns the proxy for a request to the collector. It returns an error for a
// redirect, so that the headers with credentials are not sent to another address.
func proxy(r *http.Request) (*url.URL, error) {
	if r.Response != nil {
		return nil, fmt.Errorf("the collector responded with %s", r.Response.Status)
	}
	return http.ProxyFromEnvironment(r)
}

// Close sends the remaining spans until ctx ends. Spans that are not sent by then, or
// that end later, are lost.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil {
		return
	}
	// When ctx ends, the SDK would return but continue to send.
	stop := context.AfterFunc(ctx, func() { _ = t.client.Stop(context.WithoutCancel(ctx)) }) // never fails
	defer stop()
	// Do not shut down the provider: it would no longer pass spans to the queue, which counts lost spans.
	_ = t.queue.Shutdown(context.WithoutCancel(ctx)) // the exporter has logged lost spans
}

// Sent returns how many spans the collector has accepted.
func (t *Tracer) Sent() int64 { return t.exporter.sent.Load() }

// Lost returns how many spans were dropped because too many were waiting, because they
// could not be sent, or because they ended after Close.
func (t *Tracer) Lost() int64 { return t.exporter.lost.Load() }

// Start starts the first span of a trace. It returns a nil span if the trace is not
// sampled. Cause is a link to the span that caused the work; the zero Link adds none.
func (t *Tracer) Start(ctx context.Context, name string, kind Kind, cause Link) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	var links []api.Link
	if cause.context.IsValid() {
		links = append(links, api.Link{SpanContext: cause.context})
	}
	s := start(context.Background(), t.tracer, name, kind, api.WithLinks(links...))
	return s.into(ctx), s
}

// Receive starts the span of a request. It returns a nil span if the trace is not
// sampled. If the request has exactly one traceparent (W3C Trace Context), and it is
// valid, the span belongs to the sender's trace.
func (t *Tracer) Receive(r *http.Request, name string) (context.Context, *Span) {
	if t == nil {
		return r.Context(), nil
	}
	from := context.Background()
	if len(r.Header.Values("Traceparent")) == 1 {
		from = propagation.TraceContext{}.Extract(from, propagation.HeaderCarrier(r.Header))
	}
	s := start(from, t.tracer, name, Server)
	return s.into(r.Context()), s
}

// start starts a child of the span in ctx. It returns nil if the trace is not sampled.
func start(ctx context.Context, tracer api.Tracer, name string, kind Kind, options ...api.SpanStartOption) *Span {
	ctx, span := tracer.Start(ctx, name, append(options, api.WithSpanKind(kind))...)
	if !span.IsRecording() {
		return nil
	}
	return &Span{tracer: tracer, span: span, below: ctx}
}
