package main

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"cardwall/internal/automate"
	"cardwall/internal/hook"
	"cardwall/internal/job"
	"cardwall/internal/live"
	"cardwall/internal/mail"
	"cardwall/internal/op"
	"cardwall/internal/rest"
	"cardwall/internal/session"
	"cardwall/internal/spool"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
	"cardwall/internal/trace"
	"cardwall/internal/transfer"
)

// traceFlush limits how long a shutdown waits for the trace collector.
const traceFlush = 3 * time.Second

// telemetry holds the metrics and the tracer of a server.
type telemetry struct {
	database     *store.Metrics
	operations   *op.Metrics
	requests     *rest.Metrics
	gate         *session.Metrics
	hooks        *hook.Metrics
	rules        *automate.Metrics
	emails       *mail.Metrics
	imports      *transfer.Metrics
	jobs         *job.Metrics
	housekeeping housekeepingMetrics
	ready        prometheus.Gauge
	registry     *prometheus.Registry
	traces       *trace.Tracer // nil unless a collector is configured
}

// newTelemetry returns the metrics of a server, and its tracer if the
// OpenTelemetry environment variables name a collector.
func newTelemetry(g *globals) (o telemetry, err error) {
	o = telemetry{
		database: store.NewMetrics(), operations: op.NewMetrics(), requests: rest.NewMetrics(), gate: session.NewMetrics(),
		hooks: hook.NewMetrics(), rules: automate.NewMetrics(), emails: mail.NewMetrics(), imports: transfer.NewMetrics(), jobs: job.NewMetrics(),
		housekeeping: newHousekeepingMetrics(),
	}
	o.ready = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cardwall_ready",
		Help: "1 while the server serves requests; 0 while it waits for its database, migrates it, or shuts down.",
	})
	o.registry = prometheus.NewRegistry()
	o.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), o.ready, newDiskMetrics(g.Data))
	g.metrics = o.database
	o.traces, err = trace.New(apiVersion(), g.log)
	return o, err
}

// stop sends the remaining traces.
func (o telemetry) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), traceFlush)
	defer cancel()
	o.traces.Close(ctx)
}

// register registers the metrics that need an open database.
func (o telemetry) register(db *store.DB, hub *live.Hub, room *spool.Folder) {
	r := o.registry
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cardwall_build_info", Help: "Always 1; the labels name the version and the database.",
		ConstLabels: prometheus.Labels{"version": apiVersion(), "goversion": runtime.Version(), "database": db.Dialect()},
	})
	build.Set(1)
	r.MustRegister(build,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cardwall_spool_bytes", Help: "Uploads and exports that wait on the disk for a slow client.",
		}, func() float64 { return float64(room.Used()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "cardwall_spool_limit_bytes", Help: "Room for them (CARDWALL_SPOOL_LIMIT).",
		}, func() float64 { return float64(room.Limit()) }))
	for _, of := range []interface{ Collectors() []prometheus.Collector }{
		db, hub, o.operations, o.requests, o.gate, o.hooks, o.rules, o.emails, o.imports, o.jobs, o.housekeeping,
	} {
		r.MustRegister(of.Collectors()...)
	}
	if t := o.traces; t != nil {
		spans := func(name, help string, value func() int64) prometheus.Collector {
			opts := prometheus.CounterOpts{Name: name, Help: help}
			return prometheus.NewCounterFunc(opts, func() float64 { return float64(value()) })
		}
		r.MustRegister(
			spans("cardwall_trace_spans_sent_total", "Spans that the trace collector accepted.", t.Sent),
			spans("cardwall_trace_spans_lost_total",
				"Spans that were dropped because the queue was full or the collector did not accept them.", t.Lost),
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
		return // the folder does not exist yet, or the system does not report it
	}
	to <- prometheus.MustNewConstMetric(m.free, prometheus.GaugeValue, float64(free))
	to <- prometheus.MustNewConstMetric(m.total, prometheus.GaugeValue, float64(total))
}

// housekeepingMetrics show the last success and the failures of housekeeping,
// which deletes expired data.
type housekeepingMetrics struct {
	last   prometheus.Gauge
	failed prometheus.Counter
}

func newHousekeepingMetrics() housekeepingMetrics {
	return housekeepingMetrics{
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "cardwall_housekeeping_last_success_timestamp_seconds",
			Help: "When this server last ran housekeeping or found that another server does; 0 before the first time.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_housekeeping_failures_total", Help: "Failed runs of housekeeping.",
		}),
	}
}

// Collectors returns the metrics for a registry.
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
