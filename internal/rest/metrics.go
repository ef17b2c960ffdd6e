package rest

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
)

// Metrics counts and times requests. Clients cannot increase the cardinality of the
// labels.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
}

// NewMetrics returns the metrics of one server.
func NewMetrics() *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_http_requests_total",
			Help: "Completed requests by interface (api, app, mcp, probe, page) and status.",
		}, []string{"door", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "cardwall_http_request_seconds",
			Help:    "Time from the headers of a request to the end of its response, except for streams and uploads.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"door"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cardwall_http_requests_in_flight", Help: "Requests in progress, including streams.",
		}),
	}
	// Create the series on startup, so that alerts see the first error as an increase.
	for _, door := range []string{"api", "app", "mcp", doorProbe, "page"} {
		for _, status := range []string{"200", "500", "503"} {
			m.requests.WithLabelValues(door, status)
		}
	}
	return m
}

// Collectors returns the metrics for a Prometheus registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.duration, m.inFlight}
}

func (m *Metrics) completed(r *http.Request, status int, took time.Duration, streams bool) {
	door := doorOf(r)
	m.requests.WithLabelValues(door, strconv.Itoa(status)).Inc()
	if !streams {
		m.duration.WithLabelValues(door).Observe(took.Seconds())
	}
}

const doorProbe = "probe"

// doorOf returns the value of the door label: the interface that a request uses.
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
