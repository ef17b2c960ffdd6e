package store

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// Metrics holds the metrics of a store. The number of time series does not depend on
// the stored data.
type Metrics struct {
	engine        *sqldb.Metrics
	transactions  *prometheus.CounterVec
	changes       prometheus.Counter
	notifications prometheus.Counter
	switchedOff   *prometheus.CounterVec
}

// NewMetrics returns the metrics of one store.
func NewMetrics() *Metrics {
	m := &Metrics{
		engine: sqldb.NewMetrics(),
		transactions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_transactions_total", Help: "Transactions, by kind (read, write, report, stream) and outcome " +
				"(ok, refused, unavailable, failed).",
		}, []string{"kind", "outcome"}),
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_changes_total", Help: "Committed changes to boards.",
		}),
		notifications: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "cardwall_notifications_total", Help: "Notification updates in committed transactions.",
		}),
		switchedOff: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "cardwall_webhooks_switched_off_total", Help: "Webhooks that the service disabled, by reason.",
		}, []string{"reason"}),
	}
	// Every series starts at 0. An alert on an increase would miss the first failure
	// if the series first appeared with 1.
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
	m.notifications.Add(float64(len(tx.effects.Notified)))
	for _, reason := range tx.effects.switchedOff {
		m.switchedOff.WithLabelValues(string(reason)).Inc()
	}
}

// Collectors returns the Prometheus collectors of the store.
func (db *DB) Collectors() []prometheus.Collector {
	m := db.opts.Metrics
	own := []prometheus.Collector{m.transactions, m.changes, m.notifications, m.switchedOff, newBacklog(db)}
	return append(own, db.engine.Collectors()...)
}

// BackedUpSetting is the key of the setting that holds the time of the last successful
// backup, in Unix milliseconds.
const BackedUpSetting = "backed_up_at"

// backlog collects the number and delay of waiting emails and the time of the last
// backup. All servers that share the database report the same values.
type backlog struct {
	db     *DB
	emails *prometheus.Desc
	late   *prometheus.Desc
	backup *prometheus.Desc
}

const (
	backlogTimeout = time.Second // time limit of the queries; if it is exceeded, the metrics are omitted
	maxBacklog     = 10_000      // number at which counting emails stops
)

func newBacklog(db *DB) *backlog {
	return &backlog{
		db:     db,
		emails: prometheus.NewDesc("cardwall_emails_waiting", "Emails that are waiting to be sent, at most 10,000.", nil, nil),
		late:   prometheus.NewDesc("cardwall_emails_late_seconds", "How long the oldest waiting email has been due.", nil, nil),
		backup: prometheus.NewDesc("cardwall_backup_last_success_timestamp_seconds", "Time of the last successful cardwall "+
			"backup; 0 for never.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (b *backlog) Describe(ch chan<- *prometheus.Desc) {
	ch <- b.emails
	ch <- b.late
	ch <- b.backup
}

// Collect implements prometheus.Collector. It queries the database.
func (b *backlog) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	var (
		waiting int
		late    time.Duration
		backup  board.Instant
	)
	err := b.db.Read(ctx, board.System(), func(v *View) (err error) {
		if waiting, late, err = v.EmailsWaiting(ctx, maxBacklog); err != nil {
			return err
		}
		_, err = v.one(ctx, "SELECT CAST(value AS BIGINT) FROM settings WHERE key = $1", []any{BackedUpSetting}, &backup)
		return err
	})
	if err != nil {
		return // cardwall_transactions_total counts the failure
	}
	ch <- prometheus.MustNewConstMetric(b.emails, prometheus.GaugeValue, float64(waiting))
	ch <- prometheus.MustNewConstMetric(b.late, prometheus.GaugeValue, late.Seconds())
	ch <- prometheus.MustNewConstMetric(b.backup, prometheus.GaugeValue, (time.Duration(backup) * time.Millisecond).Seconds())
}
