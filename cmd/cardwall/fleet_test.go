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
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fleet is several servers on one database, with what their clients know.
type fleet struct {
	t                *testing.T
	binary           string
	flags            []string
	token, workspace string
	client           *http.Client
	receiver         *hookReceiver
	rest             time.Duration // pause of a writer between two changes
	bases            []atomic.Pointer[string]

	boards                     []*hotBoard
	refused, secret, elsewhere place // boards that send nothing
	document                   string

	mu           sync.Mutex
	acknowledged map[change]time.Time
	calm         int // acknowledged changes that must send nothing
	rejected     int // requests that were rejected
}

// place is a board with a list and a card.
type place struct{ board, list, card string }

// hotBoard is a board that the load changes.
type hotBoard struct {
	place
	webhook string
	from    int64 // its version when its webhooks were created
}

// change is a change of a board.
type change struct {
	board   string
	version int64
}

func newFleet(t *testing.T, servers int, flags ...string) *fleet {
	t.Helper()
	f := &fleet{
		t: t, binary: filepath.Join(t.TempDir(), "cardwall"), flags: append(flags, "--data", t.TempDir()),
		client:   &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: hookWriters}},
		receiver: newHookReceiver(t), bases: make([]atomic.Pointer[string], servers), acknowledged: map[change]time.Time{},
	}
	t.Cleanup(f.client.CloseIdleConnections)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", f.binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	f.command("user", "add", "--email", "ada@example.com", "--name", "Ada")
	f.workspace = f.command("workspace", "add", "--owner", "ada@example.com", "--name", "Crash")
	f.token = f.command("token", "add", "--user", "ada@example.com", "--name", "crash", "--scopes", "read,write,admin")
	return f
}

func (f *fleet) command(args ...string) string {
	f.t.Helper()
	var out, problems bytes.Buffer
	if status := run(append(args, f.flags...), strings.NewReader(""), &out, &problems); status != 0 {
		f.t.Fatalf("cardwall %v: %s", args, problems.String())
	}
	return strings.TrimSpace(out.String())
}

func (f *fleet) doctor() {
	if said := f.command("doctor"); said != "No problems found." {
		f.t.Errorf("the doctor says:\n%s", said)
	}
}

// start runs a server and waits until it responds. The returned function kills it.
func (f *fleet) start(i int) (kill func()) {
	f.t.Helper()
	addr := freeAddress(f.t)
	base := "http://" + addr
	args := append([]string{"serve", "--addr", addr, "--rate-limits", "off", "--max-open-cards", "200000",
		"--webhook-allow", "127.0.0.1", "--webhook-pace", "0", "--webhook-retry-pauses",
		"200ms,200ms,200ms,200ms,200ms,200ms,200ms,200ms"}, f.flags...)
	cmd := exec.CommandContext(context.Background(), f.binary, args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		f.bases[i].CompareAndSwap(&base, nil)
		if strings.Contains(log.String(), `"level":"ERROR"`) || strings.Contains(log.String(), "panic") {
			f.t.Errorf("the server's log:\n%s", log.String())
		}
	})
	f.t.Cleanup(kill)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		res, err := f.client.Get(base + "/readyz")
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				f.bases[i].Store(&base)
				return kill
			}
		}
		if time.Now().After(deadline) {
			kill()
			f.t.Fatalf("the server does not respond: %v\n%s", err, log.String())
		}
	}
}

// answer is the part of a response that the fleet reads.
type answer struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
	BoardVersion int64 `json:"boardVersion"`
}

// prepare creates the boards and then the webhooks: one on each changed board, and one on the
// workspace.
func (f *fleet) prepare() {
	f.t.Helper()
	for range hotBoards {
		f.boards = append(f.boards, &hotBoard{place: f.place("workspace")})
	}
	f.refused, f.secret, f.elsewhere = f.place("workspace"), f.place("confidential"), f.place("workspace")
	f.document = filepath.Join(f.t.TempDir(), "board.json")
	f.must(f.exchange("GET", "/boards/"+f.elsewhere.board+"/export", "", nil, f.keep(f.document)))

	kinds := []string{"card.created", "card.updated", "card.completed", "list.created"}
	for i, b := range f.boards {
		name := fmt.Sprintf("board-%d", i)
		f.make("/webhooks", map[string]any{"boardId": b.board, "url": f.receiver.url(name), "events": kinds})
		b.webhook = name
		b.from = f.versions(b.board, 0)[0].highest()
	}
	f.make("/webhooks", map[string]any{"workspaceId": f.workspace, "url": f.receiver.url("workspace"), "events": kinds})
}

// place creates a board with a list and a card.
func (f *fleet) place(visibility string) (p place) {
	f.t.Helper()
	p.board = f.make("/boards",
		map[string]any{"workspaceId": f.workspace, "name": "Board", "visibility": visibility}).Data.ID
	p.list = f.make("/boards/"+p.board+"/lists", map[string]any{"name": "List"}).Data.ID
	p.card = f.make("/cards", map[string]any{"listId": p.list, "title": "Card"}).Data.ID
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
				case <-time.After(f.rest):
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

// write makes a writer's next change: one with one event, one with two, and sometimes one that
// must send nothing.
func (f *fleet) write(w, n int) {
	b := f.boards[(w+n)%len(f.boards)]
	made, err := f.send("POST", "/cards", map[string]any{"listId": b.list, "title": fmt.Sprintf("Card %d of %d", n, w)})
	f.note(err, b.board, made.BoardVersion)
	if err == nil && n%4 == 0 {
		changed, err := f.send("PATCH", "/cards/"+made.Data.ID, map[string]any{"title": "Changed", "done": true})
		f.note(err, b.board, changed.BoardVersion-1, changed.BoardVersion)
	}
	switch n % 7 {
	case 0:
		_, err = f.send("POST", "/cards/"+f.refused.card+"/move", map[string]any{"listId": f.secret.list + "x"})
		f.refuse(err)
	case 1:
		_, err = f.send("POST", "/cards", map[string]any{"listId": f.refused.list, "title": " "})
		f.refuse(err)
	case 2:
		_, err = f.send("POST", "/cards", map[string]any{"listId": f.secret.list, "title": "Secret"})
		f.quiet(err)
	case 3:
		_, err = f.send("POST", "/cards/"+f.refused.card+"/copy", map[string]any{"listId": f.elsewhere.list})
		f.quiet(err)
	case 4:
		if n%28 == 4 {
			_, err = f.send("POST", "/boards/"+b.board+"/copy", map[string]any{"name": "Copy"})
			f.quiet(err)
		}
	}
}

// note records an acknowledged change.
func (f *fleet) note(err error, board string, versions ...int64) {
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range versions {
		f.acknowledged[change{board, v}] = time.Now()
	}
}

// quiet counts changes that must send nothing.
func (f *fleet) quiet(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.calm++
	}
}

// refuse counts rejected requests. The server must not have accepted them.
func (f *fleet) refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var status statusError
	switch {
	case err == nil:
		f.t.Error("a request was accepted that should have been rejected")
	case errors.As(err, &status) && status.code < http.StatusInternalServerError:
		f.rejected++
	}
}

// keepQuiet imports a board during the load. The import sends no events.
func (f *fleet) keepQuiet() {
	f.t.Helper()
	f.command("import", "cardwall", f.document, "--workspace", f.workspace)
}

// compare waits until every committed change has been delivered, and reports errors. The
// expected changes come from the boards' change lists.
func (f *fleet) compare() {
	f.t.Helper()
	if f.calm == 0 || f.rejected == 0 || len(f.acknowledged) < 100 {
		f.t.Errorf("there was too little load: %d changes that send nothing, %d refusals, %d acknowledged changes", f.calm,
			f.rejected, len(f.acknowledged))
	}
	want := map[arrival]string{}
	committed := map[change]bool{}
	for _, b := range f.boards {
		for _, page := range f.versions(b.board, b.from) {
			for _, entry := range page {
				committed[change{b.board, entry.BoardVersion}] = true
				for _, webhook := range []string{b.webhook, "workspace"} {
					want[arrival{webhook, change{b.board, entry.BoardVersion}}] = entry.Type
				}
			}
		}
	}
	for a := range f.acknowledged {
		if !committed[a] {
			f.t.Errorf("version %d of %s was acknowledged but does not exist", a.version, a.board)
		}
	}
	f.receiver.await(want, 2*time.Minute)
}

// page is a part of a board's changes.
type page []struct {
	BoardVersion int64
	Type         string
}

func (p page) highest() int64 { return p[len(p)-1].BoardVersion }

// versions returns the changes of a board after a version.
func (f *fleet) versions(board string, since int64) (pages []page) {
	f.t.Helper()
	cursor := ""
	for {
		var out struct {
			Data       page
			NextCursor string
		}
		f.must(f.exchange("GET", fmt.Sprintf("/boards/%s/changes?since=%d&limit=200&cursor=%s", board, since, cursor), "",
			nil, into(&out)))
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

// make is like send, but the request must succeed.
func (f *fleet) make(path string, in any) answer {
	f.t.Helper()
	a, err := f.send("POST", path, in)
	f.must(err)
	return a
}

// send makes a request with an idempotency key and repeats it until there is a response,
// because a server may be down.
func (f *fleet) send(method, path string, in any) (a answer, err error) {
	key := crand.Text()
	for range 100 {
		err = f.exchange(method, path, key, in, into(&a))
		var status statusError
		if err == nil || errors.As(err, &status) && status.code < http.StatusInternalServerError {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return a, err
}

// statusError is a response without success.
type statusError struct {
	code int
	text string
}

func (e statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

// exchange sends a request to any running server.
func (f *fleet) exchange(method, path, key string, in any, out func(io.Reader) error) error {
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
	defer func() { _ = res.Body.Close() }() // error irrelevant after reading
	if res.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(res.Body)
		return statusError{res.StatusCode, string(text)}
	}
	return out(res.Body)
}

func into(v any) func(io.Reader) error {
	return func(r io.Reader) error { return json.NewDecoder(r).Decode(v) }
}

// keep writes a response to a file.
func (f *fleet) keep(path string) func(io.Reader) error {
	return func(r io.Reader) error {
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o600)
	}
}
