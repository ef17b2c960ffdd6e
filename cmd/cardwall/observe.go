package main

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"cardwall/internal/automate"
	"cardwall/internal/hook"
	"cardwall/internal/live"
	"cardwall/internal/mail"
	"cardwall/internal/op"
	"cardwall/internal/rest"
	"cardwall/internal/session"
	"cardwall/internal/store"
	"cardwall/internal/trace"
	"cardwall/internal/transfer"
)

// traceFlush is how long a server that stops waits for the collector of traces.
const traceFlush = 3 * time.Second

// observed is by what an operator sees into a server.
type observed struct {
	database     *store.Metrics
	operations   *op.Metrics
	requests     *rest.Metrics
	gate         *session.Metrics
	hooks        *hook.Metrics
	rules        *automate.Metrics
	letters      *mail.Metrics
	imports      *transfer.Metrics
	housekeeping housekeepingMetrics
	ready        prometheus.Gauge
	registry     *prometheus.Registry
	traces       *trace.Tracer // nil unless a collector is configured
}

// observe makes the metrics of a server and, when the variables of OpenTelemetry
// name a collector, what sends traces to it.
func observe(g *globals) (o observed, err error) {
	o = observed{
		database: store.NewMetrics(), operations: op.NewMetrics(), requests: rest.NewMetrics(), gate: session.NewMetrics(),
		hooks: hook.NewMetrics(), rules: automate.NewMetrics(), letters: mail.NewMetrics(), imports: transfer.NewMetrics(),
		housekeeping: newHousekeepingMetrics(),
	}
	o.ready = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cardwall_ready", Help: "1 while the server serves requests; 0 while it waits for its database, migrates it, or is shutting down.",
	})
	o.registry = prometheus.NewRegistry()
	o.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), o.ready, newRoom(g.Data))
	g.metrics = o.database
	settings, on, err := trace.FromEnvironment(g.env)
	if err != nil || !on {
		return o, err
	}
	settings.Version, settings.Log = apiVersion(), g.log
	o.traces = trace.New(settings)
	g.log.Info("sending traces", "service", settings.Service)
	return o, nil
}

// stop sends the traces that wait.
func (o observed) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), traceFlush)
	defer cancel()
	o.traces.Close(ctx)
}

// register adds the metrics of a server whose database is open.
func (o observed) register(db *store.DB, hub *live.Hub) {
	r := o.registry
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cardwall_build_info", Help: "Always 1; its labels say which version runs, and on which database.",
		ConstLabels: prometheus.Labels{"version": apiVersion(), "goversion": runtime.Version(), "database": db.Dialect()},
	})
	build.Set(1)
	r.MustRegister(build)
	for _, of := range []interface{ Collectors() []prometheus.Collector }{
		db, hub, o.operations, o.requests, o.gate, o.hooks, o.rules, o.letters, o.imports, o.housekeeping,
	} {
		r.MustRegister(of.Collectors()...)
	}
	if t := o.traces; t != nil {
		spans := func(name, help string, value func() int64) prometheus.Collector {
			return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
		}
		r.MustRegister(
			spans("cardwall_trace_spans_sent_total", "Spans that the collector of traces has taken.", t.Sent),
			spans("cardwall_trace_spans_lost_total", "Spans that were dropped: there were too many, or the collector did not take them.", t.Lost),
		)
	}
}

// room is how much of the filesystem is free that holds the data folder.
type room struct {
	folder      string
	free, total *prometheus.Desc
}

func newRoom(folder string) *room {
	return &room{
		folder: folder,
		free:   prometheus.NewDesc("cardwall_data_free_bytes", "Room that is free on the filesystem of the data folder.", nil, nil),
		total:  prometheus.NewDesc("cardwall_data_size_bytes", "Size of the filesystem of the data folder.", nil, nil),
	}
}

// Describe names the metrics.
func (r *room) Describe(to chan<- *prometheus.Desc) { to <- r.free; to <- r.total }

// Collect asks the filesystem.
func (r *room) Collect(to chan<- prometheus.Metric) {
	free, total, err := store.DiskRoom(r.folder)
	if err != nil {
		return // the folder is not there yet, or the system does not say
	}
	to <- prometheus.MustNewConstMetric(r.free, prometheus.GaugeValue, float64(free))
	to <- prometheus.MustNewConstMetric(r.total, prometheus.GaugeValue, float64(total))
}

// housekeepingMetrics tell when what has had its time was last forgotten.
type housekeepingMetrics struct {
	last   prometheus.Gauge
	failed prometheus.Counter
}

func newHousekeepingMetrics() housekeepingMetrics {
	return housekeepingMetrics{
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cardwall_housekeeping_last_success_timestamp_seconds", Help: "When housekeeping was last done here, or found in another server's hands; 0 before the first time.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_housekeeping_failures_total", Help: "Times that housekeeping failed.",
		}),
	}
}

// Collectors are the metrics, for a registry.
func (m housekeepingMetrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.last, m.failed}
}

func (m housekeepingMetrics) ended(err error) {
	if err != nil {
		m.failed.Inc()
		return
	}
	m.last.SetToCurrentTime()
}
