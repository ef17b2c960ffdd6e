package main

import (
	"bufio"
	"context"
	"encoding/json"
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
	"cardwall/internal/automate"
	"cardwall/internal/board"
	"cardwall/internal/catalog"
	"cardwall/internal/connect"
	"cardwall/internal/dbtool"
	"cardwall/internal/guest"
	"cardwall/internal/hook"
	"cardwall/internal/mail"
	"cardwall/internal/notify"
	"cardwall/internal/op"
	"cardwall/internal/seal"
	"cardwall/internal/store"
)

const (
	virtualHours = 72
	outageBegins = 30 * time.Hour // of the receiver, since the start of the test
	outageEnds   = 33 * time.Hour
	turnEvery    = 30 * time.Minute // a card is created, and Bob comments on it
)

// TestSeventyTwoVirtualHours runs all background work for three virtual days, which take
// seconds here, while cards are created and commented on: deliveries with retries, rules,
// reminders, daily emails, housekeeping and leases. After each day, another server takes over
// the same data a minute later. In the end each effect has happened exactly once.
func TestSeventyTwoVirtualHours(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDays(t)
		for day := range virtualHours / 24 {
			stop := d.serve(fmt.Sprintf("srv_day%d", day+1))
			for range 24 * time.Hour / turnEvery {
				d.turn()
				time.Sleep(turnEvery)
			}
			stop()
			time.Sleep(time.Minute)
		}
		stop := d.serve("srv_last")
		time.Sleep(24 * time.Hour) // time for retries and the last emails
		d.compare()
		stop()
	})
}

// days is a server's data, with the effects observed outside.
type days struct {
	t          *testing.T
	file       string
	keys       *seal.Keyring
	began      time.Time
	db         *store.DB
	registry   *op.Registry
	engine     *op.Engine
	ada, bob   board.Caller
	list, card string // the card has a due date and is assigned to Ada
	cards      []string
	guard      *hook.Guard
	purged     atomic.Int64 // stored responses that were purged

	mu       sync.Mutex
	taken    map[string]int // deliveries, by id
	attempts map[string]int
	versions map[int64]string // delivery ID, by version
	digests  map[string]int   // by day
}

func newDays(t *testing.T) *days {
	t.Helper()
	d := &days{t: t, file: filepath.Join(t.TempDir(), "cardwall.db"), began: time.Now(),
		taken: map[string]int{}, attempts: map[string]int{}, versions: map[int64]string{}, digests: map[string]int{}}
	var err error
	if d.keys, err = seal.Parse("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"); err != nil {
		t.Fatal(err)
	}
	if d.guard, err = hook.NewGuard(hook.GuardOptions{Allow: []string{"receiver.test"}}); err != nil {
		t.Fatal(err)
	}
	accounts, err := account.New(account.Options{BaseURL: "https://cardwall.example.com", Unlimited: true, Log: d.log()})
	if err != nil {
		t.Fatal(err)
	}
	programs := connect.New(connect.Options{BaseURL: "https://cardwall.example.com", Unlimited: true, Log: d.log()})
	d.registry = catalog.New(catalog.Parts{Accounts: accounts, Programs: programs,
		Pages: guest.New(guest.Options{Unlimited: true})})
	closing := d.open()
	defer closing()
	d.ada, d.bob = d.person("ada"), d.person("bob")
	workspace := d.do(d.ada, "create_workspace", fields{"name": "Ada's"})
	if err := d.db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
		return tx.SetMember(t.Context(), workspace, d.bob.UserID, board.WorkspaceMember)
	}); err != nil {
		t.Fatal(err)
	}
	on := d.do(d.ada, "create_board", fields{"workspaceId": workspace, "name": "Launch"})
	d.do(d.ada, "update_board", fields{"boardId": on, "features": fields{"automation": true}})
	d.list = d.do(d.ada, "create_list", fields{"boardId": on, "name": "To do"})
	d.do(d.ada, "create_rule", fields{"boardId": on, "name": "Mark", "when": fields{"event": "card_created"},
		"then": []any{fields{"operation": "add_checklist", "input": fields{"title": "First"}}}})
	token := d.ada
	token.SessionID = "" // so that no recent sign-in is required
	d.do(token, "create_webhook",
		fields{"boardId": on, "url": "http://receiver.test/in", "events": []string{"card.created"}})
	// Reminders use UTC, Ada's time zone: the day before at nine, and the day itself at nine.
	d.card = d.do(d.ada, "create_card", fields{"listId": d.list, "title": "Due", "assignees": []string{d.ada.UserID},
		"due": fields{"dueDate": d.began.UTC().AddDate(0, 0, 2).Format(board.DateLayout), "timeZone": "UTC"}})
	return d
}

type fields = map[string]any

func (d *days) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(d.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// open opens the data as a starting server does.
func (d *days) open() (closing func()) {
	d.t.Helper()
	db, err := store.Open(d.t.Context(), store.Options{
		Database: d.file, BaseURL: "https://cardwall.example.com", Log: d.log(), Keys: d.keys, Readers: 2, Migrate: true,
		Clock: store.SteadyClock(time.Now),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.db, d.engine = db, op.NewEngine(db)
	d.engine.CheckAddress = d.guard.Check
	return func() {
		if err := db.Close(); err != nil {
			d.t.Error(err)
		}
	}
}

// person returns a signed-in person.
func (d *days) person(name string) board.Caller {
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

// do calls an operation that must succeed, with an idempotency key, and returns the ID.
func (d *days) do(who board.Caller, name string, in fields) string {
	d.t.Helper()
	var out struct{ Data struct{ ID string } }
	d.call(who, name, in, &out)
	return out.Data.ID
}

func (d *days) call(who board.Caller, name string, in fields, out any) {
	d.t.Helper()
	o := d.registry.Named(name)
	if o == nil {
		d.t.Fatalf("there is no operation %s", name)
	}
	object, err := json.Marshal(in)
	if err != nil {
		d.t.Fatal(err)
	}
	c := op.Call{Operation: o, Caller: who}
	if c.Arguments, _, err = o.Spread(object); err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	if !o.ReadOnly {
		c.Key = store.NewID("key_")
	}
	a, err := d.engine.Do(d.t.Context(), c)
	if err == nil {
		err = json.Unmarshal(a.Body, out)
	}
	if err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
}

// turn creates a card on which Bob mentions Ada in a comment.
func (d *days) turn() {
	d.t.Helper()
	id := d.do(d.ada, "create_card", fields{"listId": d.list, "title": "Card"})
	d.cards = append(d.cards, id)
	d.do(d.bob, "add_comment", fields{"cardId": d.card, "text": "And this."})
}

// serve runs the background work of a server.
func (d *days) serve(holder string) (stop func()) {
	d.t.Helper()
	closing := d.open()
	sender := hook.New(hook.Options{DB: d.db, Guard: d.guard, Dial: d.dial, Holder: holder, Log: d.log()})
	rules := automate.New(automate.Options{DB: d.db, Registry: d.registry, Holder: holder, Log: d.log()})
	outbox, err := mail.NewSender(mail.Options{From: "Cardwall <no-reply@example.com>", Outbox: d.t.TempDir(),
		Log: d.log(), Clock: d.db.Now})
	if err != nil {
		d.t.Fatal(err)
	}
	emails := mail.Worker{Queue: d.emailQueue(), Sender: outbox, Log: d.log()}
	ends := []func(){
		startWorker(d.t.Context(), sender.Run),
		startWorker(d.t.Context(), rules.Run),
		startWorker(d.t.Context(), notify.New(d.db, holder, d.log()).Run),
		startWorker(d.t.Context(), emails.Run),
		startWorker(d.t.Context(), func(ctx context.Context) { d.housekeep(ctx, holder) }),
	}
	return func() {
		for _, end := range ends {
			end()
		}
		closing()
	}
}

// housekeep deletes expired data as often as a server does.
func (d *days) housekeep(ctx context.Context, holder string) {
	tick := time.NewTicker(housekeeping)
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

// emailQueue counts the daily summaries that are sent.
func (d *days) emailQueue() mail.Queue {
	queue := emailQueue(d.db)
	done := queue.Done
	queue.Done = func(ctx context.Context, l board.Email) error {
		if l.Kind == board.EmailDigest {
			d.mu.Lock()
			d.digests[time.Now().UTC().Format(board.DateLayout)]++
			d.mu.Unlock()
		}
		return done(ctx, l)
	}
	return queue
}

// dial connects to the receiver within the process.
func (d *days) dial(_ context.Context, _, address string) (net.Conn, error) {
	if address != "receiver.test:80" {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	near, far := net.Pipe()
	go func() {
		defer func() { _ = far.Close() }()
		for in := bufio.NewReader(far); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(far, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", d.receive(body)); err != nil {
				return
			}
		}
	}()
	return near, nil
}

// receive accepts a delivery. It rejects all during an outage, and each seventh version at its
// first attempt.
func (d *days) receive(body []byte) (status int) {
	var in struct {
		ID           string `json:"id"`
		BoardVersion int64  `json:"boardVersion"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		d.t.Errorf("a delivery cannot be read: %v", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if other, known := d.versions[in.BoardVersion]; known && other != in.ID {
		d.t.Errorf("version %d arrived with the IDs %s and %s", in.BoardVersion, other, in.ID)
	}
	d.versions[in.BoardVersion] = in.ID
	d.attempts[in.ID]++
	since := time.Since(d.began)
	if since >= outageBegins && since < outageEnds || d.attempts[in.ID] == 1 && in.BoardVersion%7 == 0 {
		return http.StatusServiceUnavailable
	}
	d.taken[in.ID]++
	return http.StatusNoContent
}

// compare reports effects that are missing or happened twice.
func (d *days) compare() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if want := len(d.cards) + 1; len(d.taken) != want {
		d.t.Errorf("%d of %d deliveries arrived", len(d.taken), want)
	}
	again := 0
	for id, times := range d.attempts {
		if d.taken[id] > 1 || times > 9 {
			d.t.Errorf("%s was attempted %d times and accepted %d times, want it accepted once", id, times, d.taken[id])
		}
		if times > 1 {
			again++
		}
	}
	if again < int((outageEnds-outageBegins)/turnEvery) {
		d.t.Errorf("only %d deliveries were retried, so there was no outage", again)
	}
	for _, id := range d.cards {
		var out struct{ Data []struct{ Title string } }
		if d.call(d.ada, "list_checklists", fields{"cardId": id}, &out); len(out.Data) != 1 {
			d.t.Errorf("the rule ran %d times for %s, want 1", len(out.Data), id)
		}
	}
	var notifications struct {
		Data []struct{ Kind, Reminder string }
	}
	d.call(d.ada, "list_notifications", fields{"limit": 200}, &notifications)
	reminded := map[string]int{}
	for _, n := range notifications.Data {
		if n.Kind == string(board.NotifyDue) {
			reminded[n.Reminder]++
		}
	}
	if want := map[string]int{"day": 1, "due": 1}; !maps.Equal(reminded, want) {
		d.t.Errorf("the reminders to Ada are %v, want %v", reminded, want)
	}
	want := map[string]int{}
	for day := range virtualHours/24 + 1 {
		want[d.began.UTC().AddDate(0, 0, day).Format(board.DateLayout)] = 1
	}
	if !maps.Equal(d.digests, want) {
		d.t.Errorf("daily emails sent: %v, want %v", d.digests, want)
	}
	if d.purged.Load() < int64(len(d.cards)) {
		d.t.Errorf("%d stored responses were purged, want more than %d", d.purged.Load(), len(d.cards))
	}
	findings, err := dbtool.Examine(d.t.Context(), d.db)
	if err != nil || len(findings) > 0 {
		d.t.Errorf("the data is inconsistent: %v %v", findings, err)
	}
	d.t.Logf("%d cards, %d deliveries of which %d were retried, %d stored responses purged", len(d.cards), len(d.taken),
		again, d.purged.Load())
}
