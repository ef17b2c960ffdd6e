package mail

import "github.com/prometheus/client_golang/prometheus"

// What becomes of an attempt to send a letter.
const (
	sent    = "sent"
	later   = "later" // it will be tried again
	givenUp = "given_up"
)

// Metrics are what an operator watches of letters.
type Metrics struct{ attempts *prometheus.CounterVec }

// NewMetrics makes the metrics of one server.
func NewMetrics() *Metrics {
	return &Metrics{attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cardwall_letters_total", Help: "Attempts to send an email, by what became of it (sent, later, given_up).",
	}, []string{"outcome"})}
}

// Collectors are the metrics, for a registry.
func (m *Metrics) Collectors() []prometheus.Collector { return []prometheus.Collector{m.attempts} }

func (m *Metrics) attempted(outcome string) {
	if m != nil {
		m.attempts.WithLabelValues(outcome).Inc()
	}
}
