package op

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
	"cardwall/internal/trace"
)

// Metrics holds the metrics of operations. All label values come from fixed sets
// (operations, outcomes, classes), so the number of series is bounded.
type Metrics struct {
	calls *prometheus.CounterVec
	took  *prometheus.HistogramVec
	shed  *prometheus.CounterVec
}

// NewMetrics returns the metrics of one engine.
func NewMetrics() *Metrics {
	return &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_operations_total", Help: "Operation calls over REST and MCP, by outcome: ok, cancelled, or " +
				"the error code.",
		}, []string{"operation", "outcome"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cardwall_operation_seconds", Help: "Time of a call, including waits for slots and transactions, excluding " +
				"the time to read the request and to write the response. Streaming operations are excluded.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"operation"}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_operations_shed_total", Help: "Calls refused because of overload, by class of work.",
		}, []string{"class"}),
	}
}

// Announce creates the series of every operation for success and for server errors, and
// the series of every class. Otherwise the first error of an operation would create a
// series instead of increasing one, and alerts would miss it.
func (m *Metrics) Announce(operations []*Operation) {
	for _, o := range operations {
		for _, outcome := range []string{"ok", string(board.CodeInternal), string(board.CodeUnavailable)} {
			m.calls.WithLabelValues(o.Name, outcome)
		}
	}
	for k := range classes {
		m.shed.WithLabelValues(k.String())
	}
}

// Collectors returns the metrics for a Prometheus registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.calls, m.took, m.shed}
}

// Shed counts a call that was refused because of overload, by its class of work.
func (m *Metrics) Shed(class string) { m.shed.WithLabelValues(class).Inc() }

// outcomeOf returns the outcome of a call as a metric label: ok, cancelled or an
// error code.
func outcomeOf(err error) string {
	if err == nil {
		return "ok"
	}
	f, ok := board.AsFault(err)
	switch {
	case ok:
		return string(f.Code)
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return string(board.CodeUnavailable)
	}
	return string(board.CodeInternal)
}

// watched runs a call in a span and counts it, even if it panics. It measures the time of
// the call, including waits, except for streams.
func (e *Engine) watched(ctx context.Context, c Call, run func(ctx context.Context) (replayed bool, err error)) {
	begun, outcome, replayed := time.Now(), string(board.CodeInternal), false
	ctx, span := trace.Begin(ctx, c.Operation.Name, trace.Internal)
	defer func() {
		e.o.Metrics.calls.WithLabelValues(c.Operation.Name, outcome).Inc()
		if !c.Operation.Streams() {
			e.o.Metrics.took.WithLabelValues(c.Operation.Name).Observe(time.Since(begun).Seconds())
		}
		if span == nil {
			return
		}
		span.Text("cardwall.operation", c.Operation.Name)
		span.Text("cardwall.outcome", outcome)
		if replayed {
			span.Number("cardwall.replayed", 1)
		}
		if outcome == string(board.CodeInternal) || outcome == string(board.CodeUnavailable) {
			span.Fail(outcome)
		}
		span.End()
	}()
	var err error
	replayed, err = run(ctx)
	outcome = outcomeOf(err)
}
