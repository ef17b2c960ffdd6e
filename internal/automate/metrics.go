package automate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Metrics holds the metrics of automation. The number of label values
// does not grow with the number of rules.
type Metrics struct {
	runs    *prometheus.CounterVec
	latency prometheus.Histogram
}

// NewMetrics returns the metrics of one engine.
func NewMetrics() *Metrics {
	return &Metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_automation_runs_total", Help: "Events that fired the trigger of a rule, by whether the rule ran.",
		}, []string{"done"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_automation_run_seconds", Help: "Time from an event to the end of the run it triggered.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
	}
}

// Collectors returns the metrics for a Prometheus registry.
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
