package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// WebhookHealth summarizes the attempts of a loaded webhook in the last board.HealthPeriod, as
// far as its log reaches. It reads at most board.DeliveriesKept deliveries.
func (v *View) WebhookHealth(ctx context.Context, webhookID string) (board.WebhookHealth, error) {
	var attempts []board.LoggedAttempt
	since, oldest, deliveries := board.HealthStart(v.now), board.Instant(0), 0
	err := v.each(ctx, `SELECT id, created_at, log FROM deliveries WHERE webhook_id = $1 AND created_at > $2 AND id >= $3
		ORDER BY id DESC LIMIT $4`,
		[]any{webhookID, v.logStart(), minID("itg_", board.Instant(v.logStart()).Time()), board.DeliveriesKept},
		func(rows *sql.Rows) error {
			var (
				id  string
				log []byte
				all []board.DeliveryAttempt
			)
			if err := rows.Scan(&id, &oldest, &log); err != nil {
				return err
			}
			if err := json.Unmarshal(log, &all); err != nil {
				return fmt.Errorf("decode log of %s: %w", id, err)
			}
			for _, a := range all {
				attempts = append(attempts, board.LoggedAttempt{DeliveryID: id, DeliveryAttempt: a})
			}
			deliveries++
			return nil
		})
	if deliveries == board.DeliveriesKept {
		since = max(since, oldest)
	}
	return board.HealthOf(since, attempts), err
}
