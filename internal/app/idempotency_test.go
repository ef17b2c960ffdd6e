package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// inFlight reports whether a response says that the first request with the key is still
// running.
func inFlight(a apptest.Response) bool {
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	return a.Status == http.StatusConflict && a.Code == board.CodeInvalidRequest && err == nil && seconds > 0
}

func TestConcurrentRequestsWithOneKeyHaveOneEffect(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		boardID, lists, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 0)
		at := []*apptest.Person{ada, ada.At(s.Node())} // two servers on one database
		for round := range 5 {
			var (
				responses [16]apptest.Response
				wg        sync.WaitGroup
			)
			for i := range responses {
				wg.Go(func() {
					responses[i] = at[i%2].Keyed(fmt.Sprint("round-", round), "create_card",
						fields{"listId": lists[0], "title": fmt.Sprint("Round ", round)})
				})
			}
			wg.Wait()
			var first []byte
			originals := 0
			for _, a := range responses {
				if inFlight(a) {
					continue
				}
				if a.Status != http.StatusCreated {
					t.Fatalf("a copy got status %d, body %s; want 201", a.Status, a.Raw)
				}
				if first == nil {
					first = a.Raw
				}
				if !bytes.Equal(a.Raw, first) {
					t.Errorf("two copies got\n%s and\n%s, want the same response", first, a.Raw)
				}
				if a.Header.Get("Idempotent-Replayed") == "" {
					originals++
				}
			}
			if originals != 1 {
				t.Errorf("%d of the copies ran the operation, want 1", originals)
			}
			if titles := ada.All("list_cards", "title", fields{"boardId": boardID}); len(titles) != round+1 {
				t.Errorf("the board has the cards %q, want %d cards", titles, round+1)
			}
		}
		replayed(t, ada, boardID, lists) // checks that the versions have no gaps
	})
}

// slow is an operation that runs until the test sends its error, or nil, to the channel end.
type slow struct{ begun, end chan error }

func newSlow() *slow { return &slow{make(chan error, 16), make(chan error, 16)} }

func (o *slow) registry() *op.Registry {
	r := app.Operations()
	r.In("Tests", "Operations for tests.")
	op.Command(r, "wait", "POST /boards/{boardId}/wait", "Wait until the test ends the call.",
		func(ctx context.Context, tx *store.Tx, in app.BoardInput) (app.Deleted, error) {
			b, err := tx.Board(ctx, in.BoardID, board.Edit)
			if err != nil {
				return app.Deleted{}, err
			}
			tx.Emit(b.ID, board.BoardEvent("board.updated", board.Changes{}))
			o.begun <- nil
			return app.Deleted{ID: b.ID}, <-o.end
		})
	return r
}

// withSlow runs a test on both databases with a board and the slow operation. RetryWait is
// how long a retry waits for the first request; 0 means the default.
func withSlow(t *testing.T, retryWait time.Duration, fn func(t *testing.T, ada *apptest.Person, o *slow, in fields)) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		o := newSlow()
		s := apptest.New(t, database, apptest.Options{Registry: o.registry, ProgramLockTimeout: true, RetryWait: retryWait})
		ada := s.Person("Ada")
		boardID, _, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 0)
		fn(t, ada, o, fields{"boardId": boardID})
	})
}

// A copy that arrives on any server while the first request is still running waits two seconds.
// It then receives an error that asks for a retry.
func TestCopyOfARequestThatStillRuns(t *testing.T) {
	withSlow(t, 0, func(t *testing.T, ada *apptest.Person, o *slow, in fields) {
		elsewhere := ada
		if ada.DB.Dialect() == "postgres" { // on SQLite, the running request keeps other servers from writing
			elsewhere = ada.At(ada.Node())
		}
		version := ada.Must("get_board", in).Get("version").(float64)
		var (
			running, waiting sync.WaitGroup
			first            apptest.Response
			copies           [3]apptest.Response
			took             [3]time.Duration
		)
		running.Go(func() { first = ada.Keyed("key", "wait", in) })
		<-o.begun
		for i, who := range []*apptest.Person{ada, ada, elsewhere} {
			waiting.Go(func() {
				begin := time.Now()
				copies[i] = who.Keyed("key", "wait", in)
				took[i] = time.Since(begin)
			})
		}
		waiting.Wait() // all copies give up before the first request ends
		o.end <- nil
		running.Wait()
		for i, a := range copies {
			if !inFlight(a) || took[i] < 1500*time.Millisecond {
				t.Errorf("copy %d: after %s, got status %d, body %s, headers %v; want a retry error after two seconds", i, took[i],
					a.Status, a.Raw, a.Header)
			}
		}
		if first.Status != http.StatusOK || first.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("the first request: got status %d, body %s; want 200", first.Status, first.Raw)
		}
		for _, who := range []*apptest.Person{ada, elsewhere} {
			if a := who.Keyed("key", "wait", in); !bytes.Equal(a.Raw, first.Raw) ||
				a.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("a copy after the first request: got status %d, body %s; want the response of the first", a.Status, a.Raw)
			}
		}
		if now := ada.Must("get_board", in).Get("version").(float64); now != version+1 {
			t.Errorf("the board went from version %v to %v, want %v", version, now, version+1)
		}
	})
}

// A copy that arrives while the first request is running receives the response of the first
// request if it ends soon.
func TestRetryWaitsForTheFirst(t *testing.T) {
	withSlow(t, time.Hour, func(t *testing.T, ada *apptest.Person, o *slow, in fields) {
		var (
			wg            sync.WaitGroup
			first, second apptest.Response
		)
		end := sync.OnceFunc(func() { o.end <- nil; wg.Wait() })
		defer end()
		wg.Go(func() { first = ada.Keyed("key", "wait", in) })
		<-o.begun
		wg.Go(func() { second = ada.Keyed("key", "wait", in) })
		apptest.Eventually(t, "the retry waits", func() bool { return ada.Engine.WaitingRetries() == 1 })
		end()
		if first.Status != http.StatusOK {
			t.Errorf("the first request: got status %d, body %s; want 200", first.Status, first.Raw)
		}
		if second.Status != http.StatusOK || second.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("the copy: got status %d, body %s; want a replay with status 200", second.Status, second.Raw)
		}
	})
}

// The responses to unexpected failures and to unavailability are not stored, so a retry with the
// same key runs the operation again.
func TestFailuresAreNotStored(t *testing.T) {
	withSlow(t, 0, func(t *testing.T, ada *apptest.Person, o *slow, in fields) {
		version := ada.Must("get_board", in).Get("version").(float64)
		for _, c := range []struct {
			end    error
			status int
		}{
			{errors.New("the secret inside"), http.StatusInternalServerError},
			{board.Refuse(board.CodeUnavailable, "Not now."), http.StatusServiceUnavailable},
			{nil, http.StatusOK},
		} {
			o.end <- c.end
			a := ada.Keyed("key", "wait", in)
			if a.Status != c.status || a.Header.Get("Idempotent-Replayed") != "" || strings.Contains(string(a.Raw), "secret") {
				t.Errorf("got status %d, body %s, headers %v; want %d", a.Status, a.Raw, a.Header, c.status)
			}
			if id := a.Header.Get("X-Request-Id"); c.status == 500 && !strings.Contains(a.Message, id) {
				t.Errorf("the message does not contain the request ID %s: %s", id, a.Message)
			}
		}
		if now := ada.Must("get_board", in).Get("version").(float64); now != version+1 {
			t.Errorf("the board went from version %v to %v, want %v", version, now, version+1)
		}
		// A rejected request rolls back its earlier changes, and the error response is stored.
		o.end <- board.Refuse(board.CodeLimitReached, "Enough.")
		for _, replayed := range []string{"", "true"} {
			if a := ada.Keyed("refused", "wait", in); a.Code != board.CodeLimitReached ||
				a.Header.Get("Idempotent-Replayed") != replayed {
				t.Errorf("got status %d, body %s, replayed %q; want limit_reached, replayed %q", a.Status, a.Raw,
					a.Header.Get("Idempotent-Replayed"), replayed)
			}
		}
		if now := ada.Must("get_board", in).Get("version").(float64); now != version+1 {
			t.Errorf("after a refused change the version is %v, want %v", now, version+1)
		}
	})
}

// A replay is authorized again: a caller who may no longer see the object receives an error.
func TestReplayAuthorizesAgain(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.fill("private")
		bob := w.other
		w.owner.Must("share_board", fields{"boardId": w.board, "userId": bob.ID, "role": "editor"})
		in := fields{"listId": w.list, "title": "Secret"}
		first := bob.Keyed("key", "create_card", in)
		if first.Status != http.StatusCreated {
			t.Fatalf("got status %d, body %s; want 201", first.Status, first.Raw)
		}
		hidden := func(what string, p *apptest.Person) {
			if a := p.Keyed("key", "create_card", in); a.Code != board.CodeNotFound ||
				a.Header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s: got status %d, body %s; want not_found", what, a.Status, a.Raw)
			}
		}
		hidden("a token limited to another workspace", bob.Within(bob.Workspace("Elsewhere", board.PlanTeam)))
		if a := bob.With(board.ScopeRead).Keyed("key", "create_card", in); a.Code != board.CodeInsufficientScope {
			t.Errorf("without the scope: got status %d, body %s; want insufficient_scope", a.Status, a.Raw)
		}
		w.owner.Must("remove_board_member", fields{"boardId": w.board, "userId": bob.ID})
		hidden("removed from the board", bob)
		w.owner.Must("share_board", fields{"boardId": w.board, "userId": bob.ID, "role": "viewer"})
		if a := bob.Keyed("key", "create_card", in); !bytes.Equal(a.Raw, first.Raw) {
			t.Errorf("added to the board again: got status %d, body %s, want %s", a.Status, a.Raw, first.Raw)
		}
		w.setRoles(bob, "", w.board, board.RoleNone)
		hidden("removed from the workspace", bob)
	})
}

func TestInvalidIdempotencyKeysAreRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := fields{"boardId": w.board, "name": "x", "color": "red"}
		before := w.state()
		for _, keys := range [][]string{{""}, {"a b"}, {strings.Repeat("x", 256)}, {"ä"}, {"a\x7f"}, {"a", "a"}, {"a", "b"}} {
			a := w.owner.CallWith("create_label", in, http.Header{"Idempotency-Key": keys})
			if a.Status != http.StatusBadRequest || !strings.Contains(a.Message, "Idempotency-Key") {
				t.Errorf("keys %q: got status %d, body %s; want 400 and a message about Idempotency-Key", keys, a.Status, a.Raw)
			}
		}
		if w.state() != before {
			t.Error("a call with an invalid key changed something")
		}
		long := strings.Repeat("~", 255)
		if a, b := w.owner.Keyed(long, "create_label", in), w.owner.Keyed(long, "create_label", in); a.Status != 201 ||
			!bytes.Equal(a.Raw, b.Raw) {
			t.Errorf("the longest key: got status %d, bodies %s and %s; want 201 and equal bodies", a.Status, a.Raw, b.Raw)
		}
	})
}
