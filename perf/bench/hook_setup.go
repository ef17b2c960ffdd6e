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

// The limits of the Business plan for one organization.
const (
	maxWebhooks   = 100
	maxDeliveries = 50_000 // per day
)

// hookSetup is a server whose boards have webhooks, together with the receivers. The server sends without a rate limit.
type hookSetup struct {
	suite     *suite
	srv       *installation
	receivers *receiver.Receivers
	boards    []*hookBoard
	ledger    *receiver.Ledger
}

// hookBoard is a board with one card. Changes to the card are sent to the endpoints.
type hookBoard struct {
	id, card  string
	endpoints []*receiver.Endpoint
}

// hookPlan describes a hookSetup.
type hookPlan struct {
	boards, perBoard int     // number of boards, and of webhooks per board
	oneHost          bool    // all endpoints share a host and port
	behaviors        []share // how the endpoints of the first boards behave; all other endpoints accept deliveries
	deliveries       int     // number of deliveries that the plan limits of the organizations must allow
}

// share is a number of boards whose endpoints have the same behavior.
type share struct {
	boards   int
	behavior receiver.Behavior
}

// newHookSetup starts a new server, creates the organizations, boards and webhooks of plan, and leaves the server
// running.
func newHookSetup(ctx context.Context, s *suite, dir string, plan hookPlan) (w *hookSetup, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create folder: %w", err)
	}
	srv, err := newInstallation(ctx, s.Binary, dir, "")
	if err != nil {
		return nil, err
	}
	srv.Env = append(srv.Env, "CARDWALL_WEBHOOK_ALLOW=127.0.0.1", "CARDWALL_WEBHOOK_PACE=0")
	w = &hookSetup{suite: s, srv: srv, receivers: receiver.New(), ledger: receiver.NewLedger()}
	defer func() {
		if err != nil {
			err = errors.Join(w.explain(err), w.close())
		}
	}()
	workspaces := []string{srv.workspace}
	for len(workspaces)*maxWebhooks < plan.boards*plan.perBoard || len(workspaces)*maxDeliveries*9/10 < plan.deliveries {
		id, err := srv.AddWorkspace(ctx, "More")
		if err != nil {
			return w, err
		}
		workspaces = append(workspaces, id)
	}
	for _, part := range append(plan.behaviors, share{plan.boards, receiver.Accepts}) {
		n := min(part.boards, plan.boards-len(w.boards))
		endpoints, err := w.receivers.Open(n*plan.perBoard, part.behavior, plan.oneHost)
		if err != nil {
			return w, err
		}
		for i := range n {
			w.boards = append(w.boards, &hookBoard{endpoints: endpoints[i*plan.perBoard : (i+1)*plan.perBoard]})
		}
	}
	if _, err := srv.Start(ctx); err != nil {
		return w, err
	}
	s.progress("creating %d boards with %d webhooks each in %d organizations", plan.boards, plan.perBoard, len(workspaces))
	errs := make([]error, s.clients)
	var running sync.WaitGroup
	for first := range s.clients {
		running.Go(func() {
			c := w.client()
			defer c.Close()
			for i := first; i < len(w.boards) && errs[first] == nil && ctx.Err() == nil; i += s.clients {
				errs[first] = w.boards[i].fill(c, workspaces[i%len(workspaces)])
			}
		})
	}
	running.Wait()
	return w, errors.Join(append(errs, ctx.Err())...)
}

// fill creates the board, its card and its webhooks.
func (b *hookBoard) fill(c *client.Client, workspace string) error {
	var created struct {
		record
		Secret string `json:"secret"`
	}
	if err := call(c, "POST", "/boards", map[string]any{"workspaceId": workspace, "name": "Sends"}, 201, &created); err != nil {
		return err
	}
	b.id = created.ID
	if err := call(c, "POST", "/boards/"+b.id+"/lists", map[string]any{"name": "List"}, 201, &created); err != nil {
		return err
	}
	if err := call(c, "POST", "/cards", map[string]any{"listId": created.ID, "title": "Card"}, 201, &created); err != nil {
		return err
	}
	b.card = created.ID
	for _, e := range b.endpoints {
		in := map[string]any{"boardId": b.id, "url": e.URL, "events": []string{"card.updated"}}
		if err := call(c, "POST", "/webhooks", in, 201, &created); err != nil {
			return err
		}
		if err := e.SetSecret(created.Secret); err != nil {
			return err
		}
	}
	return nil
}

func (w *hookSetup) client() *client.Client {
	return client.New(w.srv.Addr, w.srv.token, w.suite.names())
}

// close stops the receivers and the server. It stops the receivers first, because the server waits for hanging
// receivers.
func (w *hookSetup) close() error {
	w.receivers.Close()
	return w.srv.Stop()
}

// explain adds the last lines of the server's log to err.
func (w *hookSetup) explain(err error) error {
	return w.srv.WithLog(err)
}

// fillOutbox writes the deliveries of the given number of events into the database of the stopped server, as if the
// server had been killed before it sent them. The deliveries are copies of an earlier one with new ids. The events are
// distributed over all boards. fillOutbox also adds the deliveries to the ledger.
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
			values := map[string]any{ // the values that the server writes for a new delivery
				"id": id, "webhook_id": hooks[b.id][e.Number], "board_id": b.id, "version": version, "status": "pending",
				"retry": int64(0), "due_at": at,
				"attempts": int64(0), "reason": "", "http_status": nil, "created_at": at, "ended_at": nil, "log": "[]", "body": body,
			}
			arguments := make([]any, len(columns))
			for i, column := range columns {
				value, known := values[column]
				if !known {
					value = sample[column]
				}
				arguments[i] = value
			}
			if _, err := insert.ExecContext(ctx, arguments...); err != nil {
				return fmt.Errorf("fill outbox: %w", err)
			}
			w.ledger.Expect(receiver.Event{Endpoint: e.Number, Version: version}, receiver.Due{ID: id})
		}
	}
	return tx.Commit()
}

// database opens the database of the server.
func (w *hookSetup) database(ctx context.Context) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.srv.Data, "cardwall.db")+"?_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return db, db.PingContext(ctx)
}

// sampleDelivery returns the columns of the deliveries table, and the values of the latest successful delivery by
// column.
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
		return nil, nil, errors.Join(errors.New("read delivery: there is no successful delivery"), rows.Err())
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

// webhooks returns the webhook id of each endpoint, by board id and endpoint number. It finds a webhook by the host and
// the last four characters of its URL, which are unique on a board.
func (w *hookSetup) webhooks(ctx context.Context, db *sql.DB) (map[string]map[int]string, error) {
	found := make(map[string]map[string]string)
	rows, err := db.QueryContext(ctx, "SELECT id, board_id, host, last_four FROM webhooks")
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, board, host, lastFour string
		if err := rows.Scan(&id, &board, &host, &lastFour); err != nil {
			return nil, fmt.Errorf("read webhooks: %w", err)
		}
		if found[board] == nil {
			found[board] = make(map[string]string)
		}
		found[board][host+" "+lastFour] = id
	}
	out := make(map[string]map[int]string)
	for _, b := range w.boards {
		out[b.id] = make(map[int]string)
		for _, e := range b.endpoints {
			host, _, _ := strings.Cut(strings.TrimPrefix(e.URL, "http://"), "/")
			id, ok := found[b.id][host+" "+e.URL[len(e.URL)-4:]]
			if !ok {
				return nil, fmt.Errorf("read webhooks: there is no webhook for %s", e.URL)
			}
			out[b.id][e.Number] = id
		}
	}
	return out, rows.Err()
}

// unfinished returns the number of deliveries that the stopped server has not recorded as delivered.
func (w *hookSetup) unfinished(ctx context.Context) (n int, err error) {
	db, err := w.database(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM deliveries WHERE status <> 'delivered' OR due_at IS NOT NULL").Scan(&n)
	return n, err
}

// collect records deliveries until none is missing or the timeout has passed.
func (w *hookSetup) collect(ctx context.Context, timeout time.Duration) {
	for deadline := time.Now().Add(timeout); ; {
		w.ledger.Add(w.receivers.Take())
		if w.ledger.Missing() == 0 || time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
		sleepUntil(ctx, time.Now().Add(50*time.Millisecond))
	}
	// Wait for unexpected deliveries.
	sleepUntil(ctx, time.Now().Add(200*time.Millisecond))
	w.ledger.Add(w.receivers.Take())
}

// change is an acknowledged change.
type change struct {
	board              *hookBoard
	version            int64
	sent, acknowledged time.Time
}

// changer changes the titles of cards. It must be used by one goroutine at a time.
type changer struct {
	client  *client.Client
	r       client.Request
	serial  int
	done    []change
	errors  int
	samples []string
}

// change changes the title of the card of a board and records the result.
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

// versionOf returns the board version in a response, where boardVersion must be the last field.
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
