package hook_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/hook"
	"cardwall/internal/op"
	"cardwall/internal/seal"
	"cardwall/internal/store"
)

// world is a service with one workspace and a fake network of receivers.
type world struct {
	*fakeNetwork
	t         *testing.T
	db        *store.DB
	database  string
	ada       string // owns the workspace
	workspace string
	board     string
	list      string
	running   *hook.Engine // the engine that was started last
}

const baseURL = "https://cardwall.example.com"

// emptyDatabase returns the content of a migrated SQLite file. It is created once, because that takes
// longer than most tests.
var emptyDatabase = sync.OnceValues(func() (content []byte, err error) {
	folder, err := os.MkdirTemp("", "hook")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, "empty.db")
	db, err := open(context.Background(), file, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// open opens a database. Its clock is time.Now, which inside a bubble is the bubble's clock.
func open(ctx context.Context, database string, log *slog.Logger) (*store.DB, error) {
	keys, err := seal.Parse("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff")
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, store.Options{Database: database, BaseURL: baseURL, Log: log, Keys: keys, Readers: 2,
		Migrate: true})
}

// bubble runs a test in a synctest bubble. The bubble's clock does not advance while any goroutine
// runs. When all are blocked, it jumps to the next timer.
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	if _, err := emptyDatabase(); err != nil {
		t.Fatalf("create an empty database: %v", err)
	}
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t)) })
}

// newWorld creates a world on a new SQLite database.
func newWorld(t *testing.T) *world {
	t.Helper()
	content, err := emptyDatabase()
	if err != nil {
		t.Fatalf("create an empty database: %v", err)
	}
	file := filepath.Join(t.TempDir(), "cardwall.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return newWorldOn(t, file)
}

// newWorldOn creates a world on a database.
func newWorldOn(t *testing.T, database string) *world {
	t.Helper()
	w := &world{t: t, database: database, fakeNetwork: &fakeNetwork{t: t, hosts: map[string]net.Listener{}}}
	w.db = w.openDB()
	w.ada = w.person("ada")
	w.workspace = do(w, w.ada, app.AddWorkspace, app.NewWorkspace{Name: "Ada's", Plan: board.PlanBusiness}).ID
	w.board, w.list = w.newBoard(w.workspace)
	return w
}

// openDB opens the database as another process would.
func (w *world) openDB() *store.DB {
	w.t.Helper()
	db, err := open(w.t.Context(), w.database, w.log())
	if err != nil {
		w.t.Fatalf("open the store: %v", err)
	}
	w.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			w.t.Errorf("close the store: %v", err)
		}
	})
	return db
}

func (w *world) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// try runs an operation as a person, or as the service if person is "".
func try[In, Out any](w *world, person string, fn func(context.Context, *store.Tx, In) (Out, error), in In) (out Out,
	err error) {
	caller := board.Person(person)
	if person == "" {
		caller = board.System()
	}
	ctx := context.Background()
	err = w.db.Write(ctx, caller, func(tx *store.Tx) (err error) {
		out, err = fn(ctx, tx, in)
		return err
	})
	return out, err
}

// do runs an operation. The test fails if the operation does.
func do[In, Out any](w *world, person string, fn func(context.Context, *store.Tx, In) (Out, error), in In) Out {
	w.t.Helper()
	out, err := try(w, person, fn, in)
	if err != nil {
		w.t.Fatalf("%T: %v", in, err)
	}
	return out
}

// read runs a query as Ada.
func read[In, Out any](w *world, fn func(context.Context, *store.View, In) (Out, error), in In) (out Out) {
	w.t.Helper()
	ctx := context.Background()
	if err := w.db.Read(ctx, board.Person(w.ada), func(v *store.View) (err error) {
		out, err = fn(ctx, v, in)
		return err
	}); err != nil {
		w.t.Fatalf("%T: %v", in, err)
	}
	return out
}

// system changes data without calling an operation.
func (w *world) system(fn func(ctx context.Context, tx *store.Tx) error) {
	w.t.Helper()
	ctx := context.Background()
	if err := w.db.Write(ctx, board.System(), func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		w.t.Fatalf("write: %v", err)
	}
}

func (w *world) person(name string) string {
	w.t.Helper()
	return do(w, "", app.AddUser, app.NewUser{Email: name + "@example.com", Name: name}).ID
}

// withConnection calls fn with a connection to the SQLite file that is separate from the store's.
func (w *world) withConnection(fn func(db *sql.DB) error) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.database+"?_pragma=busy_timeout(60000)")
	if err == nil {
		err = errors.Join(fn(db), db.Close())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// sql executes a statement without the store.
func (w *world) sql(text string, args ...any) {
	w.t.Helper()
	w.withConnection(func(db *sql.DB) error {
		_, err := db.Exec(text, args...)
		return err
	})
}

// count returns the result of a query for a number that no operation returns.
func (w *world) count(text string, args ...any) (n int) {
	w.t.Helper()
	w.withConnection(func(db *sql.DB) error { return db.QueryRow(text, args...).Scan(&n) })
	return n
}

func (w *world) boardInput() app.BoardInput { return app.BoardInput{BoardID: w.board} }
func (w *world) workspaceInput() app.WorkspaceInput {
	return app.WorkspaceInput{WorkspaceID: w.workspace}
}

// joins adds a person to the workspace.
func (w *world) joins(person string, role board.WorkspaceRole) {
	w.t.Helper()
	w.system(func(ctx context.Context, tx *store.Tx) error { return tx.SetMember(ctx, w.workspace, person, role) })
}

func (w *world) newBoard(workspace string) (boardID, listID string) {
	w.t.Helper()
	boardID = do(w, w.ada, app.CreateBoard, app.CreateBoardInput{WorkspaceID: workspace, Name: "Launch"}).ID
	return boardID, do(w, w.ada, app.CreateList,
		app.CreateListInput{BoardInput: app.BoardInput{BoardID: boardID}, NewList: app.NewList{Name: "To do"}}).ID
}

// card creates a card, which sends an event to every webhook of the board.
func (w *world) card() { w.t.Helper(); w.cardIn(w.list) }

func (w *world) cardIn(list string) {
	w.t.Helper()
	do(w, w.ada, app.CreateCard, app.CreateCardInput{ListID: list, Title: "Card"})
}

// cards creates many cards in one transaction.
func (w *world) cards(n int) { w.t.Helper(); w.cardsIn(w.list, n) }

func (w *world) cardsIn(list string, n int) {
	w.t.Helper()
	do(w, w.ada, func(ctx context.Context, tx *store.Tx, in app.CreateCardInput) (string, error) {
		for range n {
			if _, err := app.CreateCard(ctx, tx, in); err != nil {
				return "", err
			}
		}
		return "", nil
	}, app.CreateCardInput{ListID: list, Title: "Card"})
}

// webhook creates a webhook that sends the board's card.created events to a host.
func (w *world) webhook(host string) board.WebhookSecret {
	w.t.Helper()
	return w.webhookFor(w.ada, app.CreateWebhookInput{URL: "http://" + host + "/in", BoardID: w.board, Events: created})
}

func (w *world) webhookFor(owner string, in app.CreateWebhookInput) board.WebhookSecret {
	w.t.Helper()
	return do(w, owner, app.CreateWebhook, in)
}

func webhookInput(id string) app.WebhookInput { return app.WebhookInput{WebhookID: id} }

// stored returns a webhook as Ada sees it.
func (w *world) stored(id string) board.Webhook {
	w.t.Helper()
	return read(w, app.GetWebhook, webhookInput(id))
}

// deliveries returns the log of a webhook, oldest first.
func (w *world) deliveries(id string) []board.DeliveryDetail {
	w.t.Helper()
	page := read(w, app.ListDeliveries, app.ListDeliveriesInput{WebhookInput: webhookInput(id),
		Paging: op.Paging{Limit: 100}})
	out := make([]board.DeliveryDetail, len(page.Items))
	for i, d := range page.Items {
		out[len(out)-1-i] = read(w, app.GetDelivery, app.DeliveryInput{DeliveryID: d.ID})
	}
	return out
}

// onlyDelivery returns the only delivery of a webhook.
func (w *world) onlyDelivery(id string) board.DeliveryDetail {
	w.t.Helper()
	all := w.deliveries(id)
	if len(all) != 1 {
		w.t.Fatalf("got %d deliveries, want 1", len(all))
	}
	return all[0]
}

// wantStatus checks the status of each delivery of a webhook.
func (w *world) wantStatus(id string, want ...board.DeliveryStatus) {
	w.t.Helper()
	var got []board.DeliveryStatus
	for _, d := range w.deliveries(id) {
		got = append(got, d.Status)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("got statuses %q, want %q", got, want)
	}
}

// engine starts an engine that sends the world's deliveries until stop is called or the test ends.
func (w *world) engine(change ...func(*hook.Options)) (stop func()) {
	return w.engineOn(w.db, change...)
}

func (w *world) engineOn(db *store.DB, change ...func(*hook.Options)) (stop func()) {
	w.t.Helper()
	o := hook.Options{DB: db, Guard: newGuard(w.t, nil, w.names()...), Dial: w.dial, Chance: func() float64 { return 0 },
		Holder: "first", Log: w.log()}
	for _, fn := range change {
		fn(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	engine := hook.New(o)
	w.running = engine
	go func() { defer close(done); engine.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(stop)
	return stop
}

// advance advances the clock and waits until all other goroutines in the bubble are blocked.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// unpaced removes the rate limit of an engine.
func unpaced(o *hook.Options) { o.Rate = -1 }
