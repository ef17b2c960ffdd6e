package session

import "github.com/prometheus/client_golang/prometheus"

// Metrics are what an operator watches of who asks. Their labels have few values,
// whoever asks.
type Metrics struct {
	lookups  *prometheus.CounterVec
	refusals *prometheus.CounterVec
	unnamed  prometheus.Counter
}

// NewMetrics makes the metrics of one gate.
func NewMetrics() *Metrics {
	return &Metrics{
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_credential_lookups_total", Help: "Tokens and sessions that were looked up, by where their owner was found (cache, database).",
		}, []string{"source"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_rate_limit_refusals_total", Help: "Requests refused because a limit was used up, by what it is counted for.",
		}, []string{"limit"}),
		unnamed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_untrusted_proxy_requests_total", Help: "Requests with forwarded headers from a neighbor that --trusted-proxies does not name.",
		}),
	}
}

// Collectors are the metrics, for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.lookups, m.refusals, m.unnamed}
}

func (m *Metrics) lookup(cached bool) {
	source := "database"
	if cached {
		source = "cache"
	}
	m.lookups.WithLabelValues(source).Inc()
}

// refused counts a refusal by the name of the limit: a word of the program, of
// which there are few.
func (m *Metrics) refused(limit string) {
	m.refusals.WithLabelValues(limit).Inc()
}
