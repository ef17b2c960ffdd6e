package main

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

// fleet is a group of servers on one database, with a record of their clients' requests.
type fleet struct {
	t                *testing.T
	binary           string
	flags            []string
	token, workspace string
	client           *http.Client
	receiver         *hookReceiver
	pause            time.Duration // how long a writer pauses between two changes
	bases            []atomic.Pointer[string]

	boards   []*hotBoard
	document string // path of an exported board

	// Boards whose changes must not be delivered.
	rejecting, confidential, copyTarget boardIDs

	mu           sync.Mutex
	acknowledged map[change]bool
	silent       int // number of acknowledged changes that must not be delivered
	rejected     int // number of requests that were rejected
}

// boardIDs holds the ids of a board, one of its lists and one of its cards.
type boardIDs struct{ board, list, card string }

// hotBoard is a board that writers change.
type hotBoard struct {
	boardIDs
	webhook string
	initial int64 // board version when the webhooks were created
}

// change identifies a change to a board.
type change struct {
	board   string
	version int64
}

func newFleet(t *testing.T, servers int, flags ...string) *fleet {
	t.Helper()
	f := &fleet{
		t: t, binary: program(t), flags: append(flags, "--data", t.TempDir()),
		client:   &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: hookWriters}},
		receiver: newHookReceiver(t), bases: make([]atomic.Pointer[string], servers), acknowledged: map[change]bool{},
	}
	t.Cleanup(f.client.CloseIdleConnections)
	f.command("user", "add", "--email", "ada@example.com", "--name", "Ada")
	f.workspace = f.command("workspace", "add", "--owner", "ada@example.com", "--name", "Crash")
	f.token = f.command("token", "add", "--user", "ada@example.com", "--name", "crash", "--scopes", "read,write,admin")
	return f
}

// command runs a command on the fleet's database and returns its trimmed output. The command must
// succeed.
func (f *fleet) command(args ...string) string {
	f.t.Helper()
	var out, stderr bytes.Buffer
	if status := run(append(args, f.flags...), strings.NewReader(""), &out, &stderr); status != 0 {
		f.t.Fatalf("cardwall %s: %s", strings.Join(args, " "), stderr.String())
	}
	return strings.TrimSpace(out.String())
}

// checkData fails the test if cardwall doctor finds a problem.
func (f *fleet) checkData() {
	if out := f.command("doctor"); out != "No problems found." {
		f.t.Errorf("cardwall doctor printed:\n%s", out)
	}
}

// start runs server i and waits until it is ready. The returned function kills the server, and fails
// the test if the server logged an error.
func (f *fleet) start(i int) (kill func()) {
	f.t.Helper()
	p := startProcess(f.t, f.binary, append([]string{"--rate-limits", "off", "--max-open-cards", "200000",
		"--webhook-allow", "127.0.0.1", "--webhook-pace", "0", "--webhook-retry-pauses",
		"200ms,200ms,200ms,200ms,200ms,200ms,200ms,200ms"}, f.flags...)...)
	f.bases[i].Store(&p.base)
	kill = sync.OnceFunc(func() {
		p.kill()
		f.bases[i].CompareAndSwap(&p.base, nil)
		p.checkLog()
	})
	f.t.Cleanup(kill)
	return kill
}

// response is the part of a response that the fleet reads.
type response struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
	BoardVersion int64 `json:"boardVersion"`
}

// prepare creates the boards, a webhook for each hot board and a webhook for the workspace.
func (f *fleet) prepare() {
	f.t.Helper()
	for range hotBoards {
		f.boards = append(f.boards, &hotBoard{boardIDs: f.newBoard("workspace")})
	}
	f.rejecting, f.confidential, f.copyTarget = f.newBoard("workspace"), f.newBoard("confidential"), f.newBoard("workspace")
	f.document = filepath.Join(f.t.TempDir(), "board.json")
	f.must(f.do("GET", "/boards/"+f.copyTarget.board+"/export", "", nil, saveTo(f.document)))

	kinds := []string{"card.created", "card.updated", "card.completed", "list.created"}
	for i, b := range f.boards {
		name := fmt.Sprintf("board-%d", i)
		f.mustCreate("/webhooks", map[string]any{"boardId": b.board, "url": f.receiver.url(name), "events": kinds})
		b.webhook = name
		b.initial = f.changes(b.board, 0)[0].lastVersion()
	}
	f.mustCreate("/webhooks", map[string]any{"workspaceId": f.workspace, "url": f.receiver.url("workspace"), "events": kinds})
}

// newBoard creates a board with a list and a card.
func (f *fleet) newBoard(visibility string) (p boardIDs) {
	f.t.Helper()
	p.board = f.mustCreate("/boards",
		map[string]any{"workspaceId": f.workspace, "name": "Board", "visibility": visibility}).Data.ID
	p.list = f.mustCreate("/boards/"+p.board+"/lists", map[string]any{"name": "List"}).Data.ID
	p.card = f.mustCreate("/cards", map[string]any{"listId": p.list, "title": "Card"}).Data.ID
	return p
}

// load runs writers that change cards until the returned function is called.
func (f *fleet) load() (stop func()) {
	var writers sync.WaitGroup
	done := make(chan struct{})
	for w := range hookWriters {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				case <-time.After(f.pause):
				}
				f.write(w, n)
			}
		})
	}
	return func() {
		close(done)
		writers.Wait()
	}
}

// write makes the changes of round n of writer w. One change causes one event. In some rounds, write
// also makes a change that causes two events, or sends a request that must not cause deliveries.
func (f *fleet) write(w, n int) {
	b := f.boards[(w+n)%len(f.boards)]
	created, err := f.send("POST", "/cards", map[string]any{"listId": b.list, "title": fmt.Sprintf("Card %d of %d", n, w)})
	f.recordAcknowledged(err, b.board, created.BoardVersion)
	if err == nil && n%4 == 0 {
		changed, err := f.send("PATCH", "/cards/"+created.Data.ID, map[string]any{"title": "Changed", "done": true})
		f.recordAcknowledged(err, b.board, changed.BoardVersion-1, changed.BoardVersion)
	}
	switch n % 7 {
	case 0:
		_, err = f.send("POST", "/cards/"+f.rejecting.card+"/move", map[string]any{"listId": f.confidential.list + "x"})
		f.countRejected(err)
	case 1:
		_, err = f.send("POST", "/cards", map[string]any{"listId": f.rejecting.list, "title": " "})
		f.countRejected(err)
	case 2:
		_, err = f.send("POST", "/cards", map[string]any{"listId": f.confidential.list, "title": "Secret"})
		f.countSilent(err)
	case 3:
		_, err = f.send("POST", "/cards/"+f.rejecting.card+"/copy", map[string]any{"listId": f.copyTarget.list})
		f.countSilent(err)
	case 4:
		if n%28 == 4 {
			_, err = f.send("POST", "/boards/"+b.board+"/copy", map[string]any{"name": "Copy"})
			f.countSilent(err)
		}
	}
}

// recordAcknowledged records the versions of a change, unless the request failed with err.
func (f *fleet) recordAcknowledged(err error, board string, versions ...int64) {
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range versions {
		f.acknowledged[change{board, v}] = true
	}
}

// countSilent counts a change that must not be delivered, unless the request failed with err.
func (f *fleet) countSilent(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.silent++
	}
}

// countRejected counts a request that the server must reject. It fails the test if err is nil.
func (f *fleet) countRejected(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var status statusError
	switch {
	case err == nil:
		f.t.Error("an invalid request was accepted")
	case errors.As(err, &status) && status.code < http.StatusInternalServerError:
		f.rejected++
	}
}

// importDuringLoad imports a board, which must not cause deliveries.
func (f *fleet) importDuringLoad() {
	f.t.Helper()
	f.command("import", "cardwall", f.document, "--workspace", f.workspace)
}

// awaitWrites waits until n more changes have been acknowledged.
func (f *fleet) awaitWrites(n int) {
	f.t.Helper()
	count := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.acknowledged)
	}
	before := count()
	apptest.Eventually(f.t, fmt.Sprintf("%d changes are acknowledged", n), func() bool { return count() >= before+n })
}

// checkDeliveries waits until every committed change has been delivered, and reports unexpected
// deliveries. It reads the committed changes from the server.
func (f *fleet) checkDeliveries() {
	f.t.Helper()
	for _, b := range f.boards { // an unexpected delivery would arrive before those of this last change
		f.recordAcknowledged(nil, b.board, f.mustCreate("/cards", map[string]any{"listId": b.list, "title": "Last"}).BoardVersion)
	}
	if f.silent == 0 || f.rejected == 0 || len(f.acknowledged) < 100 {
		f.t.Errorf("too little load: %d silent changes, %d rejected requests, %d acknowledged changes; want at least 1, 1 and 100", f.silent,
			f.rejected, len(f.acknowledged))
	}
	want := map[deliveryKey]string{}
	committed := map[change]bool{}
	for _, b := range f.boards {
		for _, page := range f.changes(b.board, b.initial) {
			for _, entry := range page {
				committed[change{b.board, entry.BoardVersion}] = true
				for _, webhook := range []string{b.webhook, "workspace"} {
					want[deliveryKey{webhook, change{b.board, entry.BoardVersion}}] = entry.Type
				}
			}
		}
	}
	for a := range f.acknowledged {
		if !committed[a] {
			f.t.Errorf("version %d of board %s was acknowledged but does not exist", a.version, a.board)
		}
	}
	f.receiver.await(want)
}

// changePage is a page of a board's changes.
type changePage []struct {
	BoardVersion int64
	Type         string
}

func (p changePage) lastVersion() int64 { return p[len(p)-1].BoardVersion }

// changes returns the changes of a board after a version, in pages.
func (f *fleet) changes(board string, since int64) (pages []changePage) {
	f.t.Helper()
	cursor := ""
	for {
		var out struct {
			Data       changePage
			NextCursor string
		}
		f.must(f.do("GET", fmt.Sprintf("/boards/%s/changes?since=%d&limit=200&cursor=%s", board, since, cursor), "",
			nil, decodeInto(&out)))
		pages = append(pages, out.Data)
		if cursor = out.NextCursor; cursor == "" {
			return pages
		}
	}
}

func (f *fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// mustCreate sends a POST request like send. The request must succeed.
func (f *fleet) mustCreate(path string, in any) response {
	f.t.Helper()
	res, err := f.send("POST", path, in)
	f.must(err)
	return res
}

// send sends a request with an idempotency key. If the request fails or the status is 5xx, send
// tries again, because a server may be down. It makes at most 100 attempts.
func (f *fleet) send(method, path string, in any) (res response, err error) {
	key := crand.Text()
	for range 100 {
		err = f.do(method, path, key, in, decodeInto(&res))
		var status statusError
		if err == nil || errors.As(err, &status) && status.code < http.StatusInternalServerError {
			break
		}
		time.Sleep(50 * time.Millisecond) // don't send many requests to servers that are down
	}
	return res, err
}

// statusError is the error for a response whose status is not 2xx.
type statusError struct {
	code int
	text string
}

func (e statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

// do sends a request once, to a random running server, and passes a successful response to out.
func (f *fleet) do(method, path, key string, in any, out func(io.Reader) error) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	var base *string
	for first, i := rand.IntN(len(f.bases)), 0; base == nil; i++ {
		if i == len(f.bases) {
			return errors.New("no server is running")
		}
		base = f.bases[(first+i)%len(f.bases)].Load()
	}
	if !strings.HasPrefix(path, "/api/") {
		path = "/api/public/v1" + path
	}
	r, err := http.NewRequestWithContext(context.Background(), method, *base+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+f.token)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := f.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // the body has been read
	if res.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(res.Body)
		return statusError{res.StatusCode, string(text)}
	}
	return out(res.Body)
}

// decodeInto returns a function that decodes a JSON response into v.
func decodeInto(v any) func(io.Reader) error {
	return func(r io.Reader) error { return json.NewDecoder(r).Decode(v) }
}

// saveTo returns a function that writes a response to a file.
func saveTo(path string) func(io.Reader) error {
	return func(r io.Reader) error {
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o600)
	}
}
