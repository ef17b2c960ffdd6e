package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
)

// Metrics are what an operator watches of the requests. Their labels have few
// values, whatever is asked.
type Metrics struct {
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	underWay prometheus.Gauge
}

// NewMetrics makes the metrics of one server.
func NewMetrics() *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_http_requests_total", Help: "Requests that were answered, by where (api, app, mcp, probe, page) and with which status.",
		}, []string{"door", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "cardwall_http_request_seconds", Help: "Time from a request's headers to the end of its answer; answers that stream are left out.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"door"}),
		underWay: prometheus.NewGauge(prometheus.GaugeOpts{Name: "cardwall_http_requests_in_flight", Help: "Requests under way, streams among them."}),
	}
	// The first error of a door must be an increase, not a new series.
	for _, door := range []string{"api", "app", "mcp", doorProbe, "page"} {
		for _, status := range []string{"200", "500", "503"} {
			m.requests.WithLabelValues(door, status)
		}
	}
	return m
}

// Collectors are the metrics, for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.took, m.underWay}
}

func (m *Metrics) answered(r *http.Request, status int, took time.Duration, streams bool) {
	door := doorOf(r)
	m.requests.WithLabelValues(door, strconv.Itoa(status)).Inc()
	if !streams {
		m.took.WithLabelValues(door).Observe(took.Seconds())
	}
}

const doorProbe = "probe"

// doorOf is which part of the server a request asks.
func doorOf(r *http.Request) string {
	switch p := r.URL.Path; {
	case strings.HasPrefix(p, Prefix+"/"):
		return "api"
	case strings.HasPrefix(p, ApplicationPrefix+"/"):
		return "app"
	case p == board.MCPPath:
		return "mcp"
	case p == "/healthz", p == "/readyz":
		return doorProbe
	}
	return "page"
}
