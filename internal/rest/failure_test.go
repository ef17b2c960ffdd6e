package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// withFailures returns the program's operations and some that panic, fail or reject the
// request.
func withFailures() *op.Registry {
	r := app.Operations()
	r.In("Tests", "Operations for a test.")
	op.Query(r, "panic_in_query", "GET /panic", "Panic while reading.",
		func(context.Context, *store.View, app.Nothing) (app.Deleted, error) {
			panic("the secret inside")
		})
	op.Command(r, "panic_in_command", "POST /boards/{boardId}/panic", "Panic while writing.",
		func(ctx context.Context, tx *store.Tx, in app.BoardInput) (app.Deleted, error) {
			renameBoard(ctx, tx, in)
			panic("the secret inside")
		})
	op.Command(r, "fail_in_command", "POST /boards/{boardId}/fail", "Fail while writing.",
		func(ctx context.Context, tx *store.Tx, in app.BoardInput) (app.Deleted, error) {
			renameBoard(ctx, tx, in)
			return app.Deleted{}, errors.New("the secret inside")
		})
	op.Query(r, "fail_in_query", "GET /fail", "Fail while reading.",
		func(context.Context, *store.View, app.Nothing) (app.Deleted, error) {
			return app.Deleted{}, errors.New("the secret inside")
		})
	op.Command(r, "refuse_in_command", "POST /boards/{boardId}/refuse", "Refuse while writing.",
		func(ctx context.Context, tx *store.Tx, in app.BoardInput) (app.Deleted, error) {
			renameBoard(ctx, tx, in)
			return app.Deleted{}, board.Refuse(board.CodePlanLimit, "No more.")
		})
	return r
}

// renameBoard makes a change that must be rolled back.
func renameBoard(ctx context.Context, tx *store.Tx, in app.BoardInput) {
	b, err := tx.Board(ctx, in.BoardID, board.Edit)
	if err != nil {
		panic(err)
	}
	b.Name = "Halfway"
	if err := tx.UpdateBoard(ctx, &b); err != nil {
		panic(err)
	}
	tx.Emit(b.ID, board.BoardEvent("board.updated", board.Changes{}))
}

// If an operation panics or fails, the response is 500 with the request id and without
// details. The operation's changes are rolled back, and later requests succeed.
func TestOperationFailureIsRolledBack(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{Registry: withFailures}, func(t *testing.T, s *apptest.Service) {
		ada, _, boardID := newBoard(s)
		before := ada.Must("get_board", fields{"boardId": boardID}).Raw
		for range 12 { // more requests than read connections
			for _, name := range []string{"panic_in_query", "panic_in_command", "fail_in_command", "fail_in_query"} {
				for _, key := range []string{"", "key"} {
					header := http.Header{"X-Request-Id": {"mine-" + name}}
					in := fields{}
					if strings.HasSuffix(name, "command") {
						in["boardId"] = boardID
						if key != "" {
							header.Set("Idempotency-Key", key+name)
						}
					}
					a := ada.CallWith(name, in, header)
					if a.Status != http.StatusInternalServerError || a.Code != board.CodeInternal ||
						!strings.Contains(a.Message, "mine-"+name) || a.Header.Get("X-Request-Id") != "mine-"+name {
						t.Errorf("%s: got status %d, body %s, headers %v; want 500 with the request id", name, a.Status, a.Raw, a.Header)
					}
					if strings.Contains(string(a.Raw), "secret") || strings.Contains(string(a.Raw), ".go") {
						t.Errorf("%s: got internal details in the body %s", name, a.Raw)
					}
				}
			}
		}
		if a := ada.Call("refuse_in_command", fields{"boardId": boardID}); a.Status != http.StatusPaymentRequired ||
			a.Message != "No more." {
			t.Errorf("rejected request: got status %d, body %s; want 402", a.Status, a.Raw)
		}
		if after := ada.Must("get_board", fields{"boardId": boardID}).Raw; string(after) != string(before) {
			t.Errorf("after failed operations: got the board\n%s, want\n%s", after, before)
		}
		ada.Must("update_board", fields{"boardId": boardID, "name": "Renamed"})
	})
}

// While the database is unreachable, a request gets 503 with Retry-After and not 500.
// When the database is reachable again, requests succeed.
func TestUnreachableDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, workspace, _ := newBoard(s)
		wantUnavailable := func(what string, a apptest.Response) {
			t.Helper()
			if a.Status != http.StatusServiceUnavailable || a.Code != board.CodeUnavailable ||
				a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: got status %d, body %s, headers %v; want 503 with Retry-After", what, a.Status, a.Raw, a.Header)
			}
		}
		if s.DB.Dialect() == "sqlite" {
			node := ada.At(s.Node())
			node.Must("get_me", nil)
			if err := node.DB.Close(); err != nil {
				t.Fatal(err)
			}
			wantUnavailable("a write", node.Call("create_board", fields{"workspaceId": workspace, "name": "x"}))
		} else {
			admin, err := pgx.Connect(t.Context(), s.Database)
			if err != nil {
				t.Fatal(err)
			}
			defer admin.Close(t.Context())
			for range 5 {
				if _, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "+
					"WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
					t.Fatal(err)
				}
				for _, call := range []func() apptest.Response{
					func() apptest.Response { return ada.Call("list_boards", nil) },
					func() apptest.Response {
						return ada.Call("create_board", fields{"workspaceId": workspace, "name": "x"})
					},
				} {
					if a := call(); a.Status/100 != 2 {
						wantUnavailable("a request on a lost connection", a)
					}
				}
			}
		}
		ada.Must("create_board", fields{"workspaceId": workspace, "name": "x"})
		ada.Must("list_boards", nil)
	})
}
