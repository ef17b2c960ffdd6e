package session

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts credential lookups, rate-limited requests and requests from untrusted
// proxies. The cardinality of the labels does not depend on callers.
type Metrics struct {
	lookups   *prometheus.CounterVec
	refusals  *prometheus.CounterVec
	untrusted prometheus.Counter
}

// NewMetrics returns the metrics of one gate.
func NewMetrics() *Metrics {
	return &Metrics{
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_credential_lookups_total",
			Help: "Lookups of tokens and sessions, by source (cache, database).",
		}, []string{"source"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_rate_limit_refusals_total", Help: "Requests rejected because of a rate limit, by limit.",
		}, []string{"limit"}),
		untrusted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_untrusted_proxy_requests_total",
			Help: "Requests with an X-Forwarded-For or Forwarded header from a proxy that --trusted-proxies does not name.",
		}),
	}
}

// Collectors returns the metrics for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.lookups, m.refusals, m.untrusted}
}

func (m *Metrics) lookup(cached bool) {
	source := "database"
	if cached {
		source = "cache"
	}
	m.lookups.WithLabelValues(source).Inc()
}

// refused counts a request that the named limit rejected.
func (m *Metrics) refused(limit string) {
	m.refusals.WithLabelValues(limit).Inc()
}
