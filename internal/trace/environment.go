package trace

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/go-logr/logr"
)

// collector returns the URL of the collector that OpenTelemetry's environment variables
// name, or nil if they name none or disable tracing. The SDK and its exporter read the
// other variables themselves. They ignore values that they don't support, so collector
// returns an error for such values.
func collector() (*url.URL, error) {
	disabled := strings.EqualFold(strings.TrimSpace(os.Getenv("OTEL_SDK_DISABLED")), "true")
	if exporter := os.Getenv("OTEL_TRACES_EXPORTER"); disabled || exporter == "none" {
		return nil, nil
	} else if exporter != "" && exporter != "otlp" {
		return nil, errors.New("OTEL_TRACES_EXPORTER must be otlp or none")
	}
	// Variables for traces take precedence over general ones.
	of := func(name string) string {
		return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	endpoint := of("ENDPOINT")
	if endpoint == "" {
		return nil, nil
	}
	to, err := url.Parse(endpoint)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" || to.User != nil || to.RawQuery != "" {
		return nil, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be the http:// or https:// URL of a collector, without " +
			"a user name or query string; set credentials with OTEL_EXPORTER_OTLP_HEADERS")
	}
	if os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		to = to.JoinPath("v1", "traces")
	}
	switch of("PROTOCOL") {
	case "", "http/protobuf", "http/json":
	default:
		return nil, errors.New("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json; collectors usually " +
			"accept them on port 4318")
	}
	switch of("COMPRESSION") {
	case "", "none", "gzip":
	default:
		return nil, errors.New("OTEL_EXPORTER_OTLP_COMPRESSION must be gzip or none")
	}
	for _, name := range []string{
		"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_BSP_SCHEDULE_DELAY",
		"OTEL_BSP_EXPORT_TIMEOUT", "OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
	} {
		if n := number(name, 1); n <= 0 || n > 1<<20 {
			return nil, fmt.Errorf("%s must be a whole number from 1 to %d", name, 1<<20)
		}
	}
	return to, nil
}

// number returns the value of an environment variable, or the default value if
// it is not set. It returns 0 for a value that is not a whole number.
func number(name string, absent int) int {
	value := os.Getenv(name)
	if value == "" {
		return absent
	}
	n, _ := strconv.Atoi(value)
	return n
}

// problems collects the errors that the SDK reports while it reads its environment
// variables. It drops the attributes of logged errors, which may contain secrets.
type problems struct {
	mu  sync.Mutex
	all []error
}

// Handle implements otel.ErrorHandler.
func (p *problems) Handle(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, err)
}

// Error implements logr.LogSink.
func (p *problems) Error(err error, message string, _ ...any) {
	p.Handle(fmt.Errorf("%s: %w", message, err))
}

// Enabled implements logr.LogSink.
func (p *problems) Enabled(int) bool { return false }

// Init implements logr.LogSink.
func (p *problems) Init(logr.RuntimeInfo) {}

// Info implements logr.LogSink.
func (p *problems) Info(int, string, ...any) {}

// WithName implements logr.LogSink.
func (p *problems) WithName(string) logr.LogSink { return p }

// WithValues implements logr.LogSink.
func (p *problems) WithValues(...any) logr.LogSink { return p }
