package automate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Metrics are what an operator watches. Their labels have few values, whatever
// rules there are.
type Metrics struct {
	runs    *prometheus.CounterVec
	latency prometheus.Histogram
}

// NewMetrics makes the metrics of one engine.
func NewMetrics() *Metrics {
	return &Metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_automation_runs_total", Help: "Events that set off a rule, by whether it did something.",
		}, []string{"done"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_automation_run_seconds", Help: "Time from an event to the end of the run that it set off.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
	}
}

// Collectors are the metrics, for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.runs, m.latency}
}

func (m *Metrics) ran(done bool, o *store.Occurrence, now board.Instant) {
	if !done {
		m.runs.WithLabelValues("no").Inc()
		return
	}
	m.runs.WithLabelValues("yes").Inc()
	m.latency.Observe((time.Duration(now-o.At) * time.Millisecond).Seconds())
}
