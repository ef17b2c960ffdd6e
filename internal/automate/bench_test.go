package automate_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// BenchmarkRun changes cards from 16 goroutines. With a rule, each change triggers a run,
// so an iteration includes the change, the run and their events. The goal is 1,000
// iterations per second.
func BenchmarkRun(b *testing.B) {
	for name, rule := range map[string]bool{"without": false, "with": true} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(apptest.New(b, filepath.Join(b.TempDir(), "cardwall.db"), apptest.Options{}))
			if rule {
				w.rule(fields{"event": "card_updated"}, "", action("add_comment", fields{"text": "Changed."}))
			}
			var cards []string
			for range 1 + b.N/board.RuleCardRuns {
				cards = append(cards, w.card(nil))
			}
			engine(w.Service, 0)
			b.ResetTimer()
			var clients sync.WaitGroup
			for client := range 16 {
				clients.Go(func() {
					for i := client; i < b.N; i += 16 {
						in := fmt.Appendf(nil, `{"cardId":%q,"title":"Changed %d"}`, cards[i%len(cards)], i)
						if err := w.DB.Write(context.Background(), board.Person(w.ada.ID, board.ScopeWrite), func(tx *store.Tx) error {
							_, err := w.Registry.Within(context.Background(), tx, "update_card", in)
							return err
						}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			clients.Wait()
			if rule {
				w.waitIdle()
			}
		})
	}
}
