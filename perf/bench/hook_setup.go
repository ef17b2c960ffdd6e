package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/perf/client"
	"cardwall/perf/receiver"
)

// The limits of the plan "business" for one organization.
const (
	maxWebhooks   = 100
	maxDeliveries = 50_000 // per day
)

// hookSetup is a server whose boards have webhooks, and the receivers of the deliveries. The server sends without a pace.
type hookSetup struct {
	suite     *suite
	srv       *installation
	receivers *receiver.Receivers
	boards    []*hookBoard
	seen      ledger
}

// hookBoard is a board with one card, whose changes are sent to its endpoints.
type hookBoard struct {
	id, card  string
	endpoints []*receiver.Endpoint
}

// hookPlan describes a hookSetup.
type hookPlan struct {
	boards, each int     // number of boards, and webhooks per board
	oneHost      bool    // all endpoints share a port
	behaviors    []share // of the first boards; the endpoints of the others accept
	deliveries   int     // that the limits of the organizations must allow
}

// share is a number of boards whose endpoints have a behavior.
type share struct {
	boards   int
	behavior receiver.Behavior
}

// newHookSetup creates the organizations, boards and webhooks of a plan on a new server, and leaves the server running.
func newHookSetup(ctx context.Context, s *suite, dir string, plan hookPlan) (w *hookSetup, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create folder: %w", err)
	}
	srv, err := newInstallation(ctx, s.Binary, dir, "")
	if err != nil {
		return nil, err
	}
	srv.Env = append(srv.Env, "CARDWALL_WEBHOOK_ALLOW=127.0.0.1", "CARDWALL_WEBHOOK_PACE=0")
	w = &hookSetup{suite: s, srv: srv, receivers: receiver.New(), seen: newLedger()}
	defer func() {
		if err != nil {
			err = errors.Join(w.explain(err), w.close())
		}
	}()
	workspaces := []string{srv.workspace}
	for len(workspaces)*maxWebhooks < plan.boards*plan.each || len(workspaces)*maxDeliveries*9/10 < plan.deliveries {
		made, err := srv.AddWorkspace(ctx, "More")
		if err != nil {
			return w, err
		}
		workspaces = append(workspaces, made)
	}
	for _, part := range append(plan.behaviors, share{plan.boards, receiver.Accepts}) {
		n := min(part.boards, plan.boards-len(w.boards))
		endpoints, err := w.receivers.Open(n*plan.each, part.behavior, plan.oneHost)
		if err != nil {
			return w, err
		}
		for i := range n {
			w.boards = append(w.boards, &hookBoard{endpoints: endpoints[i*plan.each : (i+1)*plan.each]})
		}
	}
	if _, err := srv.Start(ctx); err != nil {
		return w, err
	}
	s.progress("creating %d boards with %d webhooks each in %d organizations", plan.boards, plan.each, len(workspaces))
	faults := make([]error, s.clients)
	var running sync.WaitGroup
	for first := range s.clients {
		running.Go(func() {
			c := w.client()
			defer c.Close()
			for i := first; i < len(w.boards) && faults[first] == nil && ctx.Err() == nil; i += s.clients {
				faults[first] = w.boards[i].fill(c, workspaces[i%len(workspaces)])
			}
		})
	}
	running.Wait()
	return w, errors.Join(append(faults, ctx.Err())...)
}

// fill creates the board, its card and its webhooks.
func (b *hookBoard) fill(c *client.Client, workspace string) error {
	var made struct {
		record
		Secret string `json:"secret"`
	}
	if err := call(c, "POST", "/boards", map[string]any{"workspaceId": workspace, "name": "Sends"}, 201, &made); err != nil {
		return err
	}
	b.id = made.ID
	if err := call(c, "POST", "/boards/"+b.id+"/lists", map[string]any{"name": "List"}, 201, &made); err != nil {
		return err
	}
	if err := call(c, "POST", "/cards", map[string]any{"listId": made.ID, "title": "Card"}, 201, &made); err != nil {
		return err
	}
	b.card = made.ID
	for _, e := range b.endpoints {
		in := map[string]any{"boardId": b.id, "url": e.URL, "events": []string{"card.updated"}}
		if err := call(c, "POST", "/webhooks", in, 201, &made); err != nil {
			return err
		}
		if err := e.SetSecret(made.Secret); err != nil {
			return err
		}
	}
	return nil
}

func (w *hookSetup) client() *client.Client {
	return client.New(w.srv.Addr, w.srv.token, w.suite.names())
}

// close stops the receivers and the server. The receivers come first, because the server waits for those that hang.
func (w *hookSetup) close() error {
	w.receivers.Close()
	return w.srv.Stop()
}

// explain adds the end of the server's log to an error.
func (w *hookSetup) explain(err error) error {
	return w.srv.WithLog(err)
}

// fillOutbox writes undelivered events into the database of the stopped server, as a killed server would leave them: copies
// of one delivery that the server wrote, with new ids, distributed over all boards.
func (w *hookSetup) fillOutbox(ctx context.Context, events int) (err error) {
	db, err := w.database(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	columns, sample, err := sampleDelivery(ctx, db)
	if err != nil {
		return err
	}
	hooks, err := w.webhooks(ctx, db)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("fill outbox: %w", err)
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO deliveries ("+strings.Join(columns, ", ")+
		") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")")
	if err != nil {
		return fmt.Errorf("fill outbox: %w", err)
	}
	oldID, oldBoard, oldVersion := sample["id"].(string), sample["board_id"].(string), sample["version"].(int64)
	oldBody, now := sample["body"].(string), time.Now().UnixMilli()
	serial := 0
	for n := range events {
		b, version := w.boards[n%len(w.boards)], int64(1_000_000+n)
		at := now - int64(events-n)/10
		for _, e := range b.endpoints {
			serial++
			id := fmt.Sprintf("%s%013d:v%d", oldID[:len("itg_")+13], serial, version)
			body := strings.NewReplacer(oldID, id, oldBoard, b.id,
				`"boardVersion":`+strconv.FormatInt(oldVersion, 10)+`,`, `"boardVersion":`+strconv.FormatInt(version, 10)+`,`).Replace(oldBody)
			fresh := map[string]any{ // as the server writes a new delivery
				"id": id, "webhook_id": hooks[b.id][e.Number], "board_id": b.id, "version": version, "status": "pending",
				"retry": int64(0), "due_at": at,
				"attempts": int64(0), "reason": "", "http_status": nil, "created_at": at, "ended_at": nil, "log": "[]", "body": body,
			}
			values := make([]any, len(columns))
			for i, column := range columns {
				value, known := fresh[column]
				if !known {
					value = sample[column]
				}
				values[i] = value
			}
			if _, err := insert.ExecContext(ctx, values...); err != nil {
				return fmt.Errorf("fill outbox: %w", err)
			}
			w.seen.expect(receiver.Event{Endpoint: e.Number, Version: version}, due{id: id})
		}
	}
	return tx.Commit()
}

func (w *hookSetup) database(ctx context.Context) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.srv.Data, "cardwall.db")+"?_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return db, db.PingContext(ctx)
}

// sampleDelivery returns the last delivery that the server delivered.
func sampleDelivery(ctx context.Context, db *sql.DB) (columns []string, sample map[string]any, err error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM deliveries WHERE status = 'delivered' ORDER BY id DESC LIMIT 1")
	if err != nil {
		return nil, nil, fmt.Errorf("read delivery: %w", err)
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, fmt.Errorf("read delivery: %w", err)
	}
	if !rows.Next() {
		return nil, nil, errors.Join(errors.New("read delivery: none was delivered"), rows.Err())
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, nil, fmt.Errorf("read delivery: %w", err)
	}
	sample = make(map[string]any)
	for i, column := range columns {
		sample[column] = values[i]
	}
	return columns, sample, rows.Err()
}

// webhooks returns the id of the webhook of each endpoint, by board. It matches them by the last four characters of their
// URL, which are unique on a board.
func (w *hookSetup) webhooks(ctx context.Context, db *sql.DB) (map[string]map[int]string, error) {
	found := make(map[string]map[string]string)
	rows, err := db.QueryContext(ctx, "SELECT id, board_id, host, last_four FROM webhooks")
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, board, host, four string
		if err := rows.Scan(&id, &board, &host, &four); err != nil {
			return nil, fmt.Errorf("read webhooks: %w", err)
		}
		if found[board] == nil {
			found[board] = make(map[string]string)
		}
		found[board][host+" "+four] = id
	}
	out := make(map[string]map[int]string)
	for _, b := range w.boards {
		out[b.id] = make(map[int]string)
		for _, e := range b.endpoints {
			host, _, _ := strings.Cut(strings.TrimPrefix(e.URL, "http://"), "/")
			id, ok := found[b.id][host+" "+e.URL[len(e.URL)-4:]]
			if !ok {
				return nil, fmt.Errorf("read webhooks: there is none for %s", e.URL)
			}
			out[b.id][e.Number] = id
		}
	}
	return out, rows.Err()
}

// unfinished returns how many deliveries in the database of the stopped server are not delivered.
func (w *hookSetup) unfinished(ctx context.Context) (n int, err error) {
	db, err := w.database(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM deliveries WHERE status <> 'delivered' OR due_at IS NOT NULL").Scan(&n)
	return n, err
}

// due is an expected delivery.
type due struct {
	id           string    // empty if only the server knows it
	acknowledged time.Time // when the change was acknowledged
}

// ledger compares the expected deliveries with those that arrived.
type ledger struct {
	due     map[receiver.Event]due
	arrived map[receiver.Event]receiver.Receipt
	faults  []string
}

func newLedger() ledger {
	return ledger{due: make(map[receiver.Event]due), arrived: make(map[receiver.Event]receiver.Receipt)}
}

func (l *ledger) expect(e receiver.Event, d due) { l.due[e] = d }

// take records deliveries. Each event must arrive once, under one id. An unexpected event may be one whose change has not
// been acknowledged yet, so close reports those.
func (l *ledger) take(t receiver.Received) {
	l.faults = append(l.faults, t.Faults...)
	for _, r := range t.Receipts {
		switch before, twice := l.arrived[r.Event]; {
		case twice && before.ID == r.ID:
			l.faults = append(l.faults, r.ID+" arrived twice")
		case twice:
			l.faults = append(l.faults, fmt.Sprintf("endpoint %d received version %d under the ids %s and %s", r.Endpoint, r.Version,
				before.ID, r.ID))
		default:
			l.arrived[r.Event] = r
		}
	}
}

// missing returns how many expected deliveries have not arrived.
func (l *ledger) missing() (n int) {
	for e := range l.due {
		if _, ok := l.arrived[e]; !ok {
			n++
		}
	}
	return n
}

// span returns the time from the first to the last delivery among those whose id was known before.
func (l *ledger) span() time.Duration {
	var first, last time.Time
	for e, d := range l.due {
		r, ok := l.arrived[e]
		if !ok || d.id == "" {
			continue
		}
		if first.IsZero() || r.At.Before(first) {
			first = r.At
		}
		if r.At.After(last) {
			last = r.At
		}
	}
	return last.Sub(first)
}

// close returns everything that is wrong at the end.
func (l *ledger) close() []string {
	faults := l.faults
	for e, d := range l.due {
		r, ok := l.arrived[e]
		switch {
		case !ok:
			faults = append(faults, fmt.Sprintf("endpoint %d did not receive version %d %s", e.Endpoint, e.Version, d.id))
		case d.id != "" && r.ID != d.id:
			faults = append(faults, fmt.Sprintf("endpoint %d received version %d as %s instead of %s", e.Endpoint, e.Version, r.ID, d.id))
		}
	}
	for e, r := range l.arrived {
		if _, ok := l.due[e]; !ok {
			faults = append(faults, fmt.Sprintf("endpoint %d received %s, whose change was not acknowledged", e.Endpoint, r.ID))
		}
	}
	return faults
}

// collect records deliveries until none is missing or the timeout has passed.
func (w *hookSetup) collect(ctx context.Context, timeout time.Duration) {
	for deadline := time.Now().Add(timeout); ; {
		w.seen.take(w.receivers.Taken())
		if w.seen.missing() == 0 || time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
		sleepUntil(ctx, time.Now().Add(50*time.Millisecond))
	}
	// Wait for deliveries that should not arrive.
	sleepUntil(ctx, time.Now().Add(200*time.Millisecond))
	w.seen.take(w.receivers.Taken())
}

// change is an acknowledged change.
type change struct {
	board              *hookBoard
	version            int64
	sent, acknowledged time.Time
}

// changer changes titles. It is used by one goroutine.
type changer struct {
	client  *client.Client
	r       client.Request
	serial  int
	done    []change
	errors  int
	samples []string
}

func (c *changer) change(ctx context.Context, b *hookBoard) {
	c.serial++
	c.r.Reset("PATCH", 200)
	c.r.Path = append(append(c.r.Path, apiPath+"/cards/"...), b.card...)
	c.r.Body = append(c.r.Body, `{"title":"Changed `+c.client.Keys()...)
	c.r.Body = append(strconv.AppendInt(c.r.Body, int64(c.serial), 10), `"}`...)
	sent := time.Now()
	status, body, err := c.client.Do(&c.r)
	acknowledged := time.Now()
	version := int64(0)
	if err == nil && status != c.r.Want {
		err = fmt.Errorf("status %d: %s", status, client.Clip(body))
	}
	if err == nil {
		version, err = versionOf(body)
	}
	if err != nil {
		c.errors++
		if len(c.samples) < maxSamples {
			c.samples = append(c.samples, "change: "+err.Error())
		}
		sleepUntil(ctx, time.Now().Add(10*time.Millisecond))
		return
	}
	c.done = append(c.done, change{b, version, sent, acknowledged})
}

// versionOf returns the version of the board in a response, where it comes after the data.
func versionOf(body []byte) (int64, error) {
	i := bytes.LastIndexByte(body, ',')
	if i < 0 {
		return 0, fmt.Errorf("the response has no boardVersion: %s", client.Clip(body))
	}
	var out struct {
		Version int64 `json:"boardVersion"`
	}
	if err := json.Unmarshal(append([]byte{'{'}, body[i+1:]...), &out); err != nil || out.Version == 0 {
		return 0, fmt.Errorf("the response has no boardVersion: %s", client.Clip(body))
	}
	return out.Version, nil
}
