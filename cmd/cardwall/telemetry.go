package main

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"cardwall/internal/live"
	"cardwall/internal/server"
	"cardwall/internal/spool"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
	"cardwall/internal/trace"
)

// traceFlushTimeout is the longest time that a shutdown waits for the trace collector.
const traceFlushTimeout = 3 * time.Second

// telemetry holds the metrics and the tracer of a server.
type telemetry struct {
	server.Metrics
	database     *store.Metrics
	housekeeping housekeepingMetrics
	ready        prometheus.Gauge
	registry     *prometheus.Registry
	traces       *trace.Tracer // nil unless a collector is configured
}

// newTelemetry creates the metrics of a server, and its tracer if the OpenTelemetry
// environment variables name a collector. It registers the metrics that are useful
// before the database is open, and sets g.metrics.
func newTelemetry(g *globals) (t telemetry, err error) {
	t = telemetry{Metrics: server.NewMetrics(), database: store.NewMetrics(), housekeeping: newHousekeepingMetrics()}
	t.ready = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cardwall_ready",
		Help: "1 while the server serves requests; 0 while it waits for its database, migrates it, or shuts down.",
	})
	t.registry = prometheus.NewRegistry()
	t.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), t.ready, newDiskMetrics(g.Data))
	g.metrics = t.database
	t.traces, err = trace.New(apiVersion(), g.log)
	return t, err
}

// stop sends the remaining spans. Spans that cannot be sent within traceFlushTimeout
// are lost.
func (t telemetry) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), traceFlushTimeout)
	defer cancel()
	t.traces.Close(ctx)
}

// register registers the metrics that newTelemetry does not register: those of the
// build, the database, the hub, the spool folder, the tracer and the components.
func (t telemetry) register(db *store.DB, hub *live.Hub, spoolFolder *spool.Folder) {
	r := t.registry
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cardwall_build_info", Help: "Always 1. The labels give the versions of Cardwall and Go, and the kind of database.",
		ConstLabels: prometheus.Labels{"version": apiVersion(), "goversion": runtime.Version(), "database": db.Dialect()},
	})
	build.Set(1)
	r.MustRegister(build,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cardwall_spool_bytes", Help: "Size of the uploads and exports that are buffered on disk.",
		}, func() float64 { return float64(spoolFolder.Used()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cardwall_spool_limit_bytes", Help: "Limit of cardwall_spool_bytes (CARDWALL_SPOOL_LIMIT).",
		}, func() float64 { return float64(spoolFolder.Limit()) }))
	for _, source := range []interface{ Collectors() []prometheus.Collector }{
		db, hub, t.Operations, t.Requests, t.Gate, t.Hooks, t.Rules, t.Emails, t.Imports, t.Jobs, t.housekeeping,
	} {
		r.MustRegister(source.Collectors()...)
	}
	if tracer := t.traces; tracer != nil {
		counter := func(name, help string, value func() int64) prometheus.Collector {
			opts := prometheus.CounterOpts{Name: name, Help: help}
			return prometheus.NewCounterFunc(opts, func() float64 { return float64(value()) })
		}
		r.MustRegister(
			counter("cardwall_trace_spans_sent_total", "Spans that the trace collector accepted.", tracer.Sent),
			counter("cardwall_trace_spans_lost_total",
				"Spans that were dropped because the queue was full or the collector did not accept them.", tracer.Lost),
		)
	}
}

// diskMetrics collects the free space and the size of the filesystem that holds
// the data folder.
type diskMetrics struct {
	folder      string
	free, total *prometheus.Desc
}

func newDiskMetrics(folder string) *diskMetrics {
	return &diskMetrics{
		folder: folder,
		free:   prometheus.NewDesc("cardwall_data_free_bytes", "Free space on the filesystem of the data folder.", nil, nil),
		total:  prometheus.NewDesc("cardwall_data_size_bytes", "Size of the filesystem of the data folder.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *diskMetrics) Describe(to chan<- *prometheus.Desc) { to <- m.free; to <- m.total }

// Collect implements prometheus.Collector.
func (m *diskMetrics) Collect(to chan<- prometheus.Metric) {
	free, total, err := sqldb.DiskRoom(m.folder)
	if err != nil {
		return // the folder does not exist yet, or DiskRoom does not support this system
	}
	to <- prometheus.MustNewConstMetric(m.free, prometheus.GaugeValue, float64(free))
	to <- prometheus.MustNewConstMetric(m.total, prometheus.GaugeValue, float64(total))
}

// housekeepingMetrics holds the time of the last successful housekeeping run and
// the number of failed runs.
type housekeepingMetrics struct {
	last   prometheus.Gauge
	failed prometheus.Counter
}

func newHousekeepingMetrics() housekeepingMetrics {
	return housekeepingMetrics{
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cardwall_housekeeping_last_success_timestamp_seconds",
			Help: "When this server last completed housekeeping, or last found that another server was running it; 0 before the first run.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_housekeeping_failures_total", Help: "Failed housekeeping runs.",
		}),
	}
}

// Collectors returns the metrics to register.
func (m housekeepingMetrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.last, m.failed}
}

func (m housekeepingMetrics) record(err error) {
	if err != nil {
		m.failed.Inc()
		return
	}
	m.last.SetToCurrentTime()
}
