package transfer

import (
	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
)

// Metrics are what an operator watches of imports.
type Metrics struct{ imports *prometheus.CounterVec }

// NewMetrics makes the metrics of one server.
func NewMetrics() *Metrics {
	return &Metrics{imports: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "cardwall_imports_total", Help: "Files that were handed in for import, by format and by what became of them: ok, or the code of the refusal.",
	}, []string{"format", "outcome"})}
}

// Collectors are the metrics, for a registry.
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
