package app_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
)

// A higher version of a board never has an earlier time, even if many requests change the board
// at the same time.
func TestBoardTimesNeverGoBackwards(t *testing.T) {
	t.Parallel()
	const writers, changes = 16, 12
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		hook := w.make("create_webhook", fields{"url": receiver, "events": []string{"card.created"}, "boardId": w.board})
		from := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version").(float64)
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range changes {
					if a := w.owner.Call("create_card", fields{"listId": w.list, "title": "Mill"}); a.Status != 201 {
						t.Errorf("create_card: got status %d, body %s; want 201", a.Status, a.Raw)
					}
				}
			})
		}
		wg.Wait()
		var last time.Time
		bodies := s.Column("SELECT body FROM deliveries WHERE webhook_id = $1 ORDER BY version", hook)
		if len(bodies) != writers*changes {
			t.Fatalf("got %d deliveries, want %d", len(bodies), writers*changes)
		}
		for _, body := range bodies {
			var event struct {
				OccurredAt   time.Time `json:"occurredAt"`
				BoardVersion int64     `json:"boardVersion"`
			}
			if err := json.Unmarshal([]byte(body), &event); err != nil {
				t.Fatal(err)
			}
			if event.OccurredAt.Before(last) {
				t.Errorf("version %d occurred %v before the previous version", event.BoardVersion, last.Sub(event.OccurredAt))
			}
			last = event.OccurredAt
		}
		var before int64
		for _, at := range s.Column("SELECT at FROM activity WHERE board_id = $1 AND version > $2 ORDER BY version",
			w.board, from) {
			n, err := strconv.ParseInt(at, 10, 64)
			if err != nil || n < before {
				t.Errorf("an activity entry at %d is followed by one at %s (error %v)", before, at, err)
			}
			before = n
		}
	})
}
