package live

import "github.com/prometheus/client_golang/prometheus"

// Collectors returns the metrics of the hub for a Prometheus registry.
func (h *Hub) Collectors() []prometheus.Collector {
	count := func(of func() int) func() float64 {
		return func() float64 {
			h.mu.Lock()
			defer h.mu.Unlock()
			return float64(of())
		}
	}
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "cardwall_live_streams", Help: "Open live streams to browsers."},
			count(func() (n int) {
				for _, streams := range h.users {
					n += len(streams)
				}
				return n
			})),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "cardwall_live_boards", Help: "Boards shown by open live streams."},
			count(func() int { return len(h.boards) })),
	}
}
