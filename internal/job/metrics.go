package job

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
)

// Metrics holds the metrics of jobs.
type Metrics struct {
	jobs   *prometheus.HistogramVec
	slices prometheus.Histogram
}

// NewMetrics returns the metrics of one server.
func NewMetrics() *Metrics {
	return &Metrics{
		jobs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cardwall_job_seconds", Help: "Time that a server worked on a job, by kind and outcome: done, failed, or lost " +
				"(canceled, or continued on another server).",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900},
		}, []string{"kind", "outcome"}),
		slices: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_job_slice_seconds", Help: "Time of each transaction of a job, including its wait to begin. " +
				"Other writes may wait for it.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1},
		}),
	}
}

// Collectors returns the metrics for a Prometheus registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.jobs, m.slices}
}

func (m *Metrics) ended(kind board.JobKind, outcome string, took time.Duration) {
	m.jobs.WithLabelValues(string(kind), outcome).Observe(took.Seconds())
}

func (m *Metrics) sliced(took time.Duration) { m.slices.Observe(took.Seconds()) }
