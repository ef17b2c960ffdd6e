package hook

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Metrics holds the metrics of deliveries. The cardinality of their labels does not
// depend on the number of webhooks.
type Metrics struct {
	outcomes   *prometheus.CounterVec
	responses  prometheus.Histogram
	latency    prometheus.Histogram
	inProgress prometheus.Gauge
	endpoints  prometheus.Gauge
	due        prometheus.Gauge
	age        prometheus.Gauge
}

// NewMetrics returns the metrics of one engine.
func NewMetrics() *Metrics {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	return &Metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_webhook_attempts_total", Help: "Delivery attempts, by result.",
		}, []string{"status"}),
		responses: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_webhook_response_seconds", Help: "Time from the start of an attempt to the receiver's " +
				"response.", Buckets: buckets,
		}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_webhook_first_delivery_seconds", Help: "Time from an event to its delivery at the first " +
				"attempt.", Buckets: buckets,
		}),
		inProgress: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cardwall_webhook_attempts_in_flight", Help: "Delivery attempts in progress.",
		}),
		endpoints: prometheus.NewGauge(prometheus.GaugeOpts{Name: "cardwall_webhook_endpoints", Help: "Endpoints with recent " +
			"deliveries that this server handles."}),
		due: prometheus.NewGauge(prometheus.GaugeOpts{Name: "cardwall_webhook_queues_due", Help: "Endpoints with due deliveries."}),
		age: prometheus.NewGauge(prometheus.GaugeOpts{Name: "cardwall_webhook_outbox_age_seconds", Help: "How long the oldest due " +
			"delivery has been due."}),
	}
}

// Collectors returns the metrics for a Prometheus registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.outcomes, m.responses, m.latency, m.inProgress, m.endpoints, m.due, m.age}
}

func (m *Metrics) attempted(r *result, o *store.Outcome, now board.Instant) {
	m.outcomes.WithLabelValues(string(o.Status)).Inc()
	if r.status != 0 {
		m.responses.Observe(r.took.Seconds())
	}
	if r.verdict == accepted && o.Attempts == 1 {
		m.latency.Observe((time.Duration(now-o.CreatedAt) * time.Millisecond).Seconds())
	}
}

func (m *Metrics) outbox(queues []store.Queue, now board.Instant) {
	due, age := 0, board.Instant(0)
	for _, q := range queues {
		if q.FirstDue <= now {
			due++
			age = max(age, now-q.FirstDue)
		}
	}
	m.due.Set(float64(due))
	m.age.Set((time.Duration(age) * time.Millisecond).Seconds())
}

func (m *Metrics) running(inProgress, endpoints int) {
	m.inProgress.Set(float64(inProgress))
	m.endpoints.Set(float64(endpoints))
}
