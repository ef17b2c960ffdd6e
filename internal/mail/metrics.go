package mail

import "github.com/prometheus/client_golang/prometheus"

// The outcomes of an attempt to send an email.
const (
	sent    = "sent"
	later   = "later" // will be retried
	givenUp = "given_up"
)

// Metrics counts attempts to send emails.
type Metrics struct{ attempts *prometheus.CounterVec }

// NewMetrics returns the metrics of one server.
func NewMetrics() *Metrics {
	return &Metrics{attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cardwall_emails_total", Help: "Attempts to send an email, by outcome (sent, later, given_up).",
	}, []string{"outcome"})}
}

// Collectors returns the metrics for a registry.
func (m *Metrics) Collectors() []prometheus.Collector { return []prometheus.Collector{m.attempts} }

func (m *Metrics) attempted(outcome string) {
	if m != nil {
		m.attempts.WithLabelValues(outcome).Inc()
	}
}
