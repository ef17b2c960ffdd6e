package app_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Behind a pooler that can use a different connection for each transaction, the migrations, every
// operation and housekeeping work. The server also handles more concurrent requests than the pooler
// has connections. This takes more than ten seconds, because it calls every operation.
func TestEveryOperationWorksBehindPgbouncer(t *testing.T) {
	t.Parallel()
	// The pooler accepts no settings, so the lock timeout cannot be set in the URL.
	s := apptest.New(t, apptest.PoolerURL(t, apptest.EmptyPostgresURL(t)), apptest.Options{ProgramLockTimeout: true})
	everyOperationWorks(t, s)
	if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || len(done.Parts.Created) == 0 {
		t.Errorf("housekeeping created the partitions %v, error %v; want at least one partition", done.Parts.Created, err)
	}

	ada := s.Person("Zoe")
	id := ada.Must("create_board",
		apptest.Fields{"workspaceId": ada.Workspace("Many", board.PlanTeam), "name": "Many"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": id, "name": "List"}).ID()
	const clients, calls = 32, 5
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range calls {
				for name, in := range map[string]apptest.Fields{"create_card": {"listId": list, "title": "Card"},
					"list_cards": {"boardId": id, "limit": 1}} {
					var a apptest.Response
					for range 100 { // a write that waits for others for two seconds is refused
						if a = ada.Call(name, in); a.Code != board.CodeUnavailable {
							break
						}
					}
					if a.Status >= 300 {
						t.Errorf("%s: got status %d, body %s; want success", name, a.Status, a.Raw)
					}
				}
			}
		})
	}
	wg.Wait()
	if n := len(ada.All("list_cards", "id", apptest.Fields{"boardId": id, "limit": 200})); n != clients*calls {
		t.Errorf("the board has %d cards, want %d", n, clients*calls)
	}
}

// Behind a pooler, the lock timeout is set in each transaction: waiting for a lock fails after
// two seconds.
func TestLockTimeoutWorksBehindPgbouncer(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.PoolerURL(t, apptest.PostgresURL(t)), apptest.Options{ProgramLockTimeout: true})
	ada := s.Person("Ada")
	id := ada.Must("create_board", apptest.Fields{"workspaceId": ada.Workspace("One", board.PlanTeam), "name": "One"}).ID()
	lock := func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Board(ctx, id, board.Edit)
		return err
	}
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		begin := time.Now()
		err := s.DB.Write(ctx, board.System(), func(other *store.Tx) error { return lock(ctx, other) })
		if took := time.Since(begin); !board.IsCode(err, board.CodeUnavailable) || took < time.Second {
			t.Errorf("the second transaction waited %v, error %v; want unavailable after two seconds", took, err)
		}
		return nil
	})
}
