package op

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
	"cardwall/internal/trace"
)

// Metrics are what an operator watches of the operations. Their labels are names
// of the registry and codes of faults, whatever is asked.
type Metrics struct {
	calls *prometheus.CounterVec
	took  *prometheus.HistogramVec
	shed  *prometheus.CounterVec
}

// NewMetrics makes the metrics of one engine.
func NewMetrics() *Metrics {
	return &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_operations_total", Help: "Calls of operations through either interface, by what became of them: ok, cancelled, or the code of the refusal.",
		}, []string{"operation", "outcome"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cardwall_operation_seconds", Help: "Time that an operation takes, without reading the request and writing the answer; those that stream are left out.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"operation"}),
		shed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_operations_shed_total", Help: "Calls put off because there was too much to do, by the class of work.",
		}, []string{"class"}),
	}
}

// Announce makes the series of every operation, so that the first error of one is
// an increase and not a new series, which no alert sees.
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

// Collectors are the metrics, for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.calls, m.took, m.shed}
}

// Shed counts a call that was put off, by its class of work: a word of the program,
// of which there are few.
func (m *Metrics) Shed(class string) { m.shed.WithLabelValues(class).Inc() }

// outcomeOf is what became of a call, in one of few words.
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

// watched runs a call under a span and counts it, also one that panics.
func (e *Engine) watched(ctx context.Context, c Call, run func(ctx context.Context) (replayed bool, err error)) {
	begun, outcome, replayed := time.Now(), string(board.CodeInternal), false
	ctx, span := trace.Begin(ctx, c.Operation.Name, trace.Internal)
	defer func() {
		e.Metrics.calls.WithLabelValues(c.Operation.Name, outcome).Inc()
		if !c.Operation.Streams() {
			e.Metrics.took.WithLabelValues(c.Operation.Name).Observe(time.Since(begun).Seconds())
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
