package store

import (
	"context"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
)

// Metrics are what an operator watches of the database. Their labels have few
// values, whatever is stored.
type Metrics struct {
	transactions  *prometheus.CounterVec
	again         prometheus.Counter
	queued        prometheus.Histogram
	batch         prometheus.Histogram
	commit        prometheus.Histogram
	changes       prometheus.Counter
	notifications prometheus.Counter
	switchedOff   *prometheus.CounterVec
}

// NewMetrics makes the metrics of one store.
func NewMetrics() *Metrics {
	times := []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5}
	m := &Metrics{
		transactions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_transactions_total", Help: "Transactions, by kind (read, write, report, stream) and by what became of them (ok, refused, unavailable, failed).",
		}, []string{"kind", "outcome"}),
		again: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_transaction_retries_total", Help: "Transactions that lost a race and ran again (PostgreSQL).",
		}),
		queued: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_sqlite_queue_seconds", Help: "Time that a write waits for the writer (SQLite).", Buckets: times,
		}),
		batch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_sqlite_batch_writes", Help: "Writes that share one commit (SQLite).", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, writeBatch},
		}),
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "cardwall_commit_seconds", Help: "Time that a commit takes, until it is on disk.", Buckets: times,
		}),
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_changes_total", Help: "Changes of boards that were committed.",
		}),
		notifications: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_notifications_total", Help: "People whose notifications a committed change added to.",
		}),
		switchedOff: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_webhooks_switched_off_total", Help: "Webhooks that the service switched off, by the reason.",
		}, []string{"reason"}),
	}
	// The first of its kind must be an increase, not a new series: no alert sees that.
	for _, kind := range []string{"read", "write", "report", "stream"} {
		for _, outcome := range []string{"ok", "refused", "unavailable", "failed"} {
			m.transactions.WithLabelValues(kind, outcome)
		}
	}
	for _, reason := range []board.Off{board.OffFailures, board.OffGone, board.OffOwner, board.OffPlan} {
		m.switchedOff.WithLabelValues(string(reason))
	}
	return m
}

func (m *Metrics) committed(tx *Tx) {
	m.changes.Add(float64(len(tx.pending)))
	m.notifications.Add(float64(len(tx.notified)))
	for _, reason := range tx.switchedOff {
		m.switchedOff.WithLabelValues(string(reason)).Inc()
	}
}

// Collectors are the metrics, for a registry.
func (db *DB) Collectors() []prometheus.Collector {
	m := db.opts.Metrics
	own := []prometheus.Collector{m.transactions, m.commit, m.changes, m.notifications, m.switchedOff, newBacklog(db)}
	if db.Shared() {
		own = append(own, m.again)
	} else {
		own = append(own, m.queued, m.batch)
	}
	return append(own, db.engine.collectors()...)
}

// gauge is a number that is looked at when somebody asks.
func gauge(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

// counter is gauge for what only grows.
func counter(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value)
}

func (e *sqliteEngine) collectors() []prometheus.Collector {
	size := func(file string) func() float64 {
		return func() float64 {
			info, err := os.Stat(file)
			if err != nil {
				return 0 // the log is not there while nothing is in it
			}
			return float64(info.Size())
		}
	}
	return []prometheus.Collector{
		gauge("cardwall_sqlite_queued_writes", "Writes that wait for the writer (SQLite).", func() float64 { return float64(len(e.jobs)) }),
		gauge("cardwall_sqlite_readers", "Connections that read (SQLite).", func() float64 { return float64(cap(e.readers)) }),
		gauge("cardwall_sqlite_readers_busy", "Connections that are reading (SQLite).", func() float64 { return float64(cap(e.readers) - len(e.readers)) }),
		gauge("cardwall_sqlite_database_bytes", "Size of the database's file.", size(e.path)),
		gauge("cardwall_sqlite_wal_bytes", "Size of the write-ahead log beside it.", size(e.path+"-wal")),
	}
}

func (e *postgresEngine) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		gauge("cardwall_postgres_connections_in_use", "Connections of the pool that a transaction has.", func() float64 { return float64(e.pool.Stat().AcquiredConns()) }),
		gauge("cardwall_postgres_connections_idle", "Connections of the pool that nobody has.", func() float64 { return float64(e.pool.Stat().IdleConns()) }),
		gauge("cardwall_postgres_connections_max", "Connections that the pool may open.", func() float64 { return float64(e.pool.Stat().MaxConns()) }),
		counter("cardwall_postgres_acquires_total", "Times that a connection was taken from the pool.", func() float64 { return float64(e.pool.Stat().AcquireCount()) }),
		counter("cardwall_postgres_acquire_waits_total", "Times that one was waited for, because none was free.", func() float64 { return float64(e.pool.Stat().EmptyAcquireCount()) }),
		counter("cardwall_postgres_acquire_seconds_total", "Time spent on taking connections from the pool.", func() float64 { return e.pool.Stat().AcquireDuration().Seconds() }),
		counter("cardwall_postgres_acquires_cancelled_total", "Times that a wait for one was given up.", func() float64 { return float64(e.pool.Stat().CanceledAcquireCount()) }),
	}
}

// backlog is what waits in the database: the same on every server that shares it.
type backlog struct {
	db      *DB
	letters *prometheus.Desc
	late    *prometheus.Desc
	backup  *prometheus.Desc
}

const (
	backlogTime = time.Second // for asking; without an answer the metrics are left out
	backlogMost = 10_000      // that are counted
)

func newBacklog(db *DB) *backlog {
	return &backlog{
		db:      db,
		letters: prometheus.NewDesc("cardwall_letters_waiting", "Emails that have not left; 10,000 at most.", nil, nil),
		late:    prometheus.NewDesc("cardwall_letters_late_seconds", "How long the email has been due that waits longest.", nil, nil),
		backup:  prometheus.NewDesc("cardwall_backup_last_success_timestamp_seconds", "When cardwall backup last succeeded; 0 if it never did.", nil, nil),
	}
}

// Describe names the metrics.
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	to <- b.letters
	to <- b.late
	to <- b.backup
}

// Collect asks the database.
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTime)
	defer cancel()
	var (
		waiting int
		late    time.Duration
		backup  board.Instant
	)
	err := b.db.Read(ctx, board.System(), func(v *View) (err error) {
		if waiting, late, err = v.LettersWaiting(ctx, backlogMost); err != nil {
			return err
		}
		_, err = v.one(ctx, "SELECT CAST(value AS BIGINT) FROM settings WHERE key = $1", []any{backedUpSetting}, &backup)
		return err
	})
	if err != nil {
		return // the metrics of transactions tell
	}
	to <- prometheus.MustNewConstMetric(b.letters, prometheus.GaugeValue, float64(waiting))
	to <- prometheus.MustNewConstMetric(b.late, prometheus.GaugeValue, late.Seconds())
	to <- prometheus.MustNewConstMetric(b.backup, prometheus.GaugeValue, (time.Duration(backup) * time.Millisecond).Seconds())
}
