package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/connect"
	"cardwall/internal/dbtool"
	"cardwall/internal/hook"
	"cardwall/internal/mail"
	"cardwall/internal/op"
	"cardwall/internal/seal"
	"cardwall/internal/server"
	"cardwall/internal/spool"
	"cardwall/internal/store"
)

const (
	baseURL          = "https://cardwall.example.com"
	virtualHours     = 72
	outageBegins     = 30 * time.Hour // from the start of the test to the outage of the receiver
	outageEnds       = 33 * time.Hour
	activityInterval = 30 * time.Minute // between calls to createActivity
)

// TestSystemSeventyTwoVirtualHours runs background work for three days of virtual time: deliveries
// with retries, rules, reminders, daily emails, housekeeping and leases. Meanwhile, people create
// cards and comments. After each day, the server stops, and a minute later another server takes
// over its data. On a fourth day, people are idle. At the end, each effect must have happened
// exactly once.
func TestSystemSeventyTwoVirtualHours(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newSimulation(t)
		for day := range virtualHours / 24 {
			stop := d.serve(fmt.Sprintf("srv_day%d", day+1))
			for range 24 * time.Hour / activityInterval {
				d.createActivity()
				time.Sleep(activityInterval)
			}
			stop()
			time.Sleep(time.Minute)
		}
		stop := d.serve("srv_last")
		time.Sleep(24 * time.Hour) // allow for retries and the last emails
		d.checkEffects()
		stop()
	})
}

// simulation holds a server's data and the effects that the test has observed.
type simulation struct {
	t          *testing.T
	file       string
	keys       *seal.Keyring
	started    time.Time
	db         *store.DB
	registry   *op.Registry
	server     *server.Server
	ada, bob   board.Caller
	list, card string   // ids; the card has a due date and is assigned to Ada
	cards      []string // ids of the cards that createActivity created
	guard      *hook.Guard
	purged     atomic.Int64 // number of purged idempotency keys with stored responses

	mu       sync.Mutex
	accepted map[string]int   // number of accepted attempts by delivery id
	attempts map[string]int   // number of attempts by delivery id
	versions map[int64]string // delivery ids by board version
	digests  map[string]int   // number of daily emails by day
}

func newSimulation(t *testing.T) *simulation {
	t.Helper()
	d := &simulation{t: t, file: filepath.Join(t.TempDir(), "cardwall.db"), started: time.Now(),
		accepted: map[string]int{}, attempts: map[string]int{}, versions: map[int64]string{}, digests: map[string]int{}}
	var err error
	if d.keys, err = seal.Parse("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"); err != nil {
		t.Fatal(err)
	}
	if d.guard, err = hook.NewGuard(hook.GuardOptions{Allow: []string{"receiver.test"}}); err != nil {
		t.Fatal(err)
	}
	stop := d.open("srv_first")
	defer stop()
	d.ada, d.bob = d.person("ada"), d.person("bob")
	workspace := d.do(d.ada, "create_workspace", fields{"name": "Ada's"})
	if err := d.db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		return tx.SetMember(t.Context(), workspace, d.bob.UserID, board.WorkspaceMember)
	}); err != nil {
		t.Fatal(err)
	}
	boardID := d.do(d.ada, "create_board", fields{"workspaceId": workspace, "name": "Launch"})
	d.do(d.ada, "update_board", fields{"boardId": boardID, "features": fields{"automation": true}})
	d.list = d.do(d.ada, "create_list", fields{"boardId": boardID, "name": "To do"})
	d.do(d.ada, "create_rule", fields{"boardId": boardID, "name": "Mark", "when": fields{"event": "card_created"},
		"then": []any{fields{"operation": "add_checklist", "input": fields{"title": "First"}}}})
	token := d.ada
	token.SessionID = "" // a caller without a session does not need a recent sign-in
	d.do(token, "create_webhook",
		fields{"boardId": boardID, "url": "http://receiver.test/in", "events": []string{"card.created"}})
	// Ada's time zone is UTC. She is reminded at 9:00 on the day before the due date and on the due date.
	d.card = d.do(d.ada, "create_card", fields{"listId": d.list, "title": "Due", "assignees": []string{d.ada.UserID},
		"due": fields{"dueDate": d.started.UTC().AddDate(0, 0, 2).Format(board.DateLayout), "timeZone": "UTC"}})
	return d
}

type fields = map[string]any

func (d *simulation) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(d.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// open starts a server without its background work.
func (d *simulation) open(holder string) (stop func()) {
	d.t.Helper()
	db, err := store.Open(d.t.Context(), store.Options{
		Database: d.file, BaseURL: baseURL, Log: d.log(), Keys: d.keys, Readers: 2, Migrate: true,
		Clock: store.SteadyClock(time.Now),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.db = db
	o := server.Options{DB: db, Guard: d.guard, Hooks: hook.Options{Dial: d.dial}, Emails: d.emailQueue(), Holder: holder,
		BaseURL: baseURL, Unlimited: true, Log: d.log(),
		Programs: connect.New(connect.Options{BaseURL: baseURL, Unlimited: true, Log: d.log()})}
	var accounts, sender, spooled error
	o.Accounts, accounts = account.New(account.Options{BaseURL: baseURL, Unlimited: true, Log: d.log()})
	o.Sender, sender = mail.NewSender(mail.Options{From: "Cardwall <no-reply@example.com>", Outbox: d.t.TempDir(),
		Log: d.log(), Clock: db.Now})
	o.Spool, spooled = spool.Open(d.t.TempDir(), 1<<20)
	if err := errors.Join(accounts, sender, spooled); err != nil {
		d.t.Fatal(err)
	}
	o.Registry = server.Operations(o.Accounts, o.Programs, true)
	if d.server, err = server.New(o); err != nil {
		d.t.Fatal(err)
	}
	d.registry = o.Registry
	return func() {
		d.server.Close()
		if err := db.Close(); err != nil {
			d.t.Error(err)
		}
	}
}

// person creates an account and returns it as a signed-in caller.
func (d *simulation) person(name string) board.Caller {
	d.t.Helper()
	var u board.User
	if err := d.db.Write(d.t.Context(), board.System(), func(tx *store.Tx) (err error) {
		u, err = app.AddUser(d.t.Context(), tx, app.NewUser{Email: name + "@example.com", Name: name})
		return err
	}); err != nil {
		d.t.Fatal(err)
	}
	c := board.Person(u.ID, board.ScopeRead, board.ScopeWrite, board.ScopeAdmin)
	c.SessionID = "ses_" + name
	return c
}

// do calls an operation that must succeed and returns the id in its response.
func (d *simulation) do(caller board.Caller, name string, in fields) string {
	d.t.Helper()
	var out struct{ Data struct{ ID string } }
	d.call(caller, name, in, &out)
	return out.Data.ID
}

// call calls an operation that must succeed and decodes its response. It sends an idempotency
// key with each write.
func (d *simulation) call(caller board.Caller, name string, in fields, out any) {
	d.t.Helper()
	o := d.registry.Named(name)
	if o == nil {
		d.t.Fatalf("there is no operation %s", name)
	}
	object, err := json.Marshal(in)
	if err != nil {
		d.t.Fatal(err)
	}
	c := op.Call{Operation: o, Caller: caller}
	if c.Arguments, _, err = o.Spread(object); err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	if !o.ReadOnly {
		c.Key = store.NewID("key_")
	}
	result, err := d.server.Engine.Do(d.t.Context(), c)
	if err == nil {
		err = json.Unmarshal(result.Body, out)
	}
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
}

// createActivity creates a card as Ada. As Bob, it comments on the card that has a due date.
func (d *simulation) createActivity() {
	d.t.Helper()
	id := d.do(d.ada, "create_card", fields{"listId": d.list, "title": "Card"})
	d.cards = append(d.cards, id)
	d.do(d.bob, "add_comment", fields{"cardId": d.card, "text": "And this."})
}

// serve starts a server.
func (d *simulation) serve(holder string) (stop func()) {
	d.t.Helper()
	stop = d.open(holder)
	d.server.Start(d.t.Context())
	d.server.Run(d.t.Context(), func(ctx context.Context) { d.housekeep(ctx, holder) })
	return stop
}

// housekeep runs housekeeping at the same interval as a server.
func (d *simulation) housekeep(ctx context.Context, holder string) {
	tick := time.NewTicker(housekeepingInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		done, err := app.Housekeep(ctx, d.db, holder)
		if err != nil && ctx.Err() == nil {
			d.t.Errorf("housekeeping: %v", err)
		}
		d.purged.Add(done.Keys)
	}
}

// emailQueue returns a queue that counts the daily emails that are sent.
func (d *simulation) emailQueue() mail.Queue {
	queue := server.EmailQueue(d.db)
	done := queue.Done
	queue.Done = func(ctx context.Context, e board.Email) error {
		if e.Kind == board.EmailDigest {
			d.mu.Lock()
			d.digests[time.Now().UTC().Format(board.DateLayout)]++
			d.mu.Unlock()
		}
		return done(ctx, e)
	}
	return queue
}

// dial connects to a receiver in this process.
func (d *simulation) dial(_ context.Context, _, address string) (net.Conn, error) {
	if address != "receiver.test:80" {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	client, server := net.Pipe()
	go func() {
		defer func() { _ = server.Close() }()
		for in := bufio.NewReader(server); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(server, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", d.receive(body)); err != nil {
				return
			}
		}
	}()
	return client, nil
}

// receive accepts a delivery, except during the outage. It also rejects the first attempt to
// deliver a board version that is divisible by seven.
func (d *simulation) receive(body []byte) (status int) {
	var in struct {
		ID           string `json:"id"`
		BoardVersion int64  `json:"boardVersion"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		d.t.Errorf("decode a delivery: %v", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if other, known := d.versions[in.BoardVersion]; known && other != in.ID {
		d.t.Errorf("version %d was delivered with ids %s and %s, want one id", in.BoardVersion, other, in.ID)
	}
	d.versions[in.BoardVersion] = in.ID
	d.attempts[in.ID]++
	since := time.Since(d.started)
	if since >= outageBegins && since < outageEnds || d.attempts[in.ID] == 1 && in.BoardVersion%7 == 0 {
		return http.StatusServiceUnavailable
	}
	d.accepted[in.ID]++
	return http.StatusNoContent
}

// checkEffects reports effects that are missing or happened more than once.
func (d *simulation) checkEffects() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if want := len(d.cards) + 1; len(d.accepted) != want {
		d.t.Errorf("got %d deliveries, want %d", len(d.accepted), want)
	}
	retried := 0
	for id, times := range d.attempts {
		if d.accepted[id] > 1 || times > 9 {
			d.t.Errorf("%s was accepted %[3]d times in %[2]d attempts, want once in at most 9", id, times, d.accepted[id])
		}
		if times > 1 {
			retried++
		}
	}
	if retried < int((outageEnds-outageBegins)/activityInterval) {
		d.t.Errorf("%d deliveries were retried, want at least %d because of the outage", retried,
			int((outageEnds-outageBegins)/activityInterval))
	}
	for _, id := range d.cards {
		var out struct{ Data []struct{ Title string } }
		if d.call(d.ada, "list_checklists", fields{"cardId": id}, &out); len(out.Data) != 1 {
			d.t.Errorf("the rule ran %d times for card %s, want 1", len(out.Data), id)
		}
	}
	var notifications struct {
		Data []struct{ Kind, Reminder string }
	}
	d.call(d.ada, "list_notifications", fields{"limit": 200}, &notifications)
	reminders := map[string]int{}
	for _, n := range notifications.Data {
		if n.Kind == string(board.NotifyDue) {
			reminders[n.Reminder]++
		}
	}
	if want := map[string]int{"day": 1, "due": 1}; !maps.Equal(reminders, want) {
		d.t.Errorf("got reminders %v for Ada, want %v", reminders, want)
	}
	want := map[string]int{}
	for day := range virtualHours/24 + 1 {
		want[d.started.UTC().AddDate(0, 0, day).Format(board.DateLayout)] = 1
	}
	if !maps.Equal(d.digests, want) {
		d.t.Errorf("got daily emails %v, want %v", d.digests, want)
	}
	if d.purged.Load() < int64(len(d.cards)) {
		d.t.Errorf("%d idempotency keys were purged, want at least %d", d.purged.Load(), len(d.cards))
	}
	findings, err := dbtool.Examine(d.t.Context(), d.db)
	if err != nil || len(findings) > 0 {
		d.t.Errorf("Examine returned findings %v, error %v; want none", findings, err)
	}
	d.t.Logf("%d cards, %d deliveries, %d of them retried, %d idempotency keys purged", len(d.cards), len(d.accepted),
		retried, d.purged.Load())
}
