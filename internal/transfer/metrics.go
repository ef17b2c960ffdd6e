package transfer

import (
	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
)

// Metrics holds the metrics of imports.
type Metrics struct{ imports *prometheus.CounterVec }

// NewMetrics returns the metrics of one server.
func NewMetrics() *Metrics {
	return &Metrics{imports: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cardwall_imports_total", Help: "Files uploaded for import, by format and outcome: ok, or the " +
			"error code.",
	}, []string{"format", "outcome"})}
}

// Collectors returns the metrics for a Prometheus registry.
func (m *Metrics) Collectors() []prometheus.Collector { return []prometheus.Collector{m.imports} }

func (m *Metrics) imported(format string, err error) {
	outcome := "ok"
	if err != nil {
		outcome = string(board.CodeInternal)
		if f, ok := board.AsFault(err); ok {
			outcome = string(f.Code)
		}
	}
	m.imports.WithLabelValues(format, outcome).Inc()
}
