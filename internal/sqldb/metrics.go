package sqldb

import (
	"os"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics holds the metrics of an engine.
type Metrics struct {
	retries prometheus.Counter
	queued  prometheus.Histogram
	batch   prometheus.Histogram
	commit  prometheus.Histogram

	sharedQueued, sharedBatch prometheus.Histogram // wait and size of shared transactions on PostgreSQL
}

// NewMetrics returns the metrics of one engine.
func NewMetrics() *Metrics {
	times := []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	return &Metrics{
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_transaction_retries_total",
			Help: "Transactions that lost a race and ran again (PostgreSQL).",
		}),
		queued: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_sqlite_queue_seconds", Help: "Time a write waits for the writer (SQLite).", Buckets: times,
		}),
		batch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_sqlite_batch_writes", Help: "Writes that share one commit (SQLite).",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, writeBatch},
		}),
		sharedQueued: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_postgres_queue_seconds", Buckets: times,
			Help: "Time a write waits for a transaction that it shares with other writes to its board (PostgreSQL).",
		}),
		sharedBatch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_postgres_batch_writes", Help: "Writes to one board that share one commit (PostgreSQL).",
			Buckets: []float64{1, 2, 4, 8, 16, sharedWrites},
		}),
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_commit_seconds", Buckets: times,
			Help: "Time a commit takes until it is on disk. On PostgreSQL, this includes the last statements.",
		}),
	}
}

func gauge(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

func counter(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value)
}

func (e *sqliteEngine) Collectors() []prometheus.Collector {
	size := func(file string) func() float64 {
		return func() float64 {
			info, err := os.Stat(file)
			if err != nil {
				return 0 // SQLite may remove an empty log
			}
			return float64(info.Size())
		}
	}
	readers, reports := float64(cap(e.readers)), float64(cap(e.reports))
	return []prometheus.Collector{
		e.metrics.commit,
		e.metrics.queued,
		e.metrics.batch,
		gauge("cardwall_sqlite_queued_writes", "Writes that are waiting for the writer (SQLite).",
			func() float64 { return float64(len(e.jobs)) }),
		gauge("cardwall_sqlite_readers", "Connections that read (SQLite).", func() float64 { return readers }),
		gauge("cardwall_sqlite_readers_busy", "Connections that are reading (SQLite).",
			func() float64 { return readers - float64(len(e.readers)) }),
		gauge("cardwall_sqlite_report_readers", "Connections that only reports use (SQLite).", func() float64 { return reports }),
		gauge("cardwall_sqlite_report_readers_busy", "Connections that are running a report (SQLite).",
			func() float64 { return reports - float64(len(e.reports)) }),
		gauge("cardwall_sqlite_database_bytes", "Size of the database file.", size(e.path)),
		gauge("cardwall_sqlite_wal_bytes", "Size of the write-ahead log.", size(e.path+"-wal")),
	}
}

func (e *postgresEngine) Collectors() []prometheus.Collector {
	return []prometheus.Collector{
		e.metrics.commit,
		e.metrics.retries,
		e.metrics.sharedQueued,
		e.metrics.sharedBatch,
		gauge("cardwall_postgres_connections_in_use", "Connections of the pool in use.",
			func() float64 { return float64(e.pool.Stat().AcquiredConns()) }),
		gauge("cardwall_postgres_connections_idle", "Idle connections of the pool.",
			func() float64 { return float64(e.pool.Stat().IdleConns()) }),
		gauge("cardwall_postgres_connections_max", "Connections that the pool may open.",
			func() float64 { return float64(e.pool.Stat().MaxConns()) }),
		counter("cardwall_postgres_acquires_total", "Connections acquired from the pool.",
			func() float64 { return float64(e.pool.Stat().AcquireCount()) }),
		counter("cardwall_postgres_acquire_waits_total", "Acquisitions that waited because no connection was free.",
			func() float64 { return float64(e.pool.Stat().EmptyAcquireCount()) }),
		counter("cardwall_postgres_acquire_seconds_total", "Time spent acquiring connections.",
			func() float64 { return e.pool.Stat().AcquireDuration().Seconds() }),
		counter("cardwall_postgres_acquires_cancelled_total", "Acquisitions that were canceled while they waited.",
			func() float64 { return float64(e.pool.Stat().CanceledAcquireCount()) }),
	}
}
