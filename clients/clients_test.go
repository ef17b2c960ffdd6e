// Package clients_test runs the example program of each client library against a real server,
// through a proxy that makes many requests fail, and checks that nothing is lost or done twice.
package clients_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/hook"
	"cardwall/internal/store"
)

// clients are the client libraries, each with the environment and the command of its example program.
var clients = []struct {
	name    string
	env     []string
	command []string
}{
	{"TypeScript", nil, []string{"node", "typescript/build/examples/board.js"}},
	{"Python", []string{"PYTHONPATH=python/src"}, []string{"python3", "python/examples/board.py"}},
	{"Go", nil, []string{"go", "run", "-C", "go", "./examples"}},
}

func TestExamples(t *testing.T) {
	for i, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.command[0]); err != nil {
				t.Skipf("%s is not installed", c.command[0])
			}
			w := newWorld(t, 3*i)
			w.env, w.command = slices.Concat(os.Environ(), c.env, w.env), c.command
			boardID := w.importCards()
			w.watch(boardID)
			w.catchUp(boardID)
			w.checkFaults()
		})
	}
}

// fault is what happens to a request.
type fault string

const (
	none        fault = "none"
	limited     fault = "429"
	limitedLong fault = "429 with a wait"
	unavailable fault = "503"
	cutBefore   fault = "cut before the request"
	cutAfter    fault = "cut before the response"
	cutWithin   fault = "cut within the response"
)

// faults is the order of the faults. A call of a program that sends one request after the other
// fails at most twice.
var faults = []fault{limited, none, cutAfter, none, unavailable, cutBefore, none, cutWithin, none, limitedLong, cutAfter, none}

// refusals are the responses of faults: the status, the code and Retry-After.
var refusals = map[fault][3]string{
	limited: {"429", "rate_limited", "0"}, limitedLong: {"429", "rate_limited", "1"}, unavailable: {"503", "unavailable", ""},
}

// world is a server, a proxy before it that injects faults, and an example program that uses the
// proxy. The sequence of faults is the same in each run. Reads and writes have their own places in
// it, so that both see all faults.
type world struct {
	*apptest.Person
	workspace    string
	env, command []string

	mu        sync.Mutex
	receiver  string                 // the host and port at which the program receives deliveries
	relayAt   string                 // the host and port of relay, to which they are sent instead
	place     map[bool]int           // in faults; for writes (true) and reads
	injected  map[bool]map[fault]int // the number of faults
	notBefore map[string]time.Time   // the earliest time of the next try of a request
	replays   atomic.Int32           // responses that the server had stored
}

func newWorld(t *testing.T, seed int) *world {
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	guard, err := hook.NewGuard(hook.GuardOptions{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s.Run(t.Context(), hook.New(hook.Options{DB: s.DB, Guard: guard, Holder: store.NewID("srv_"), Log: log}).Run)
	w := &world{
		Person: s.Person("Ada"), receiver: apptest.ReserveAddress(t), place: map[bool]int{true: seed, false: seed + 1},
		injected: map[bool]map[fault]int{true: {}, false: {}}, notBefore: map[string]time.Time{},
	}
	w.workspace = w.Workspace("Engines", board.PlanTeam)
	relay := httptest.NewServer(http.HandlerFunc(w.relay))
	t.Cleanup(relay.Close)
	w.relayAt = relay.Listener.Addr().String()
	proxy := httptest.NewServer(w)
	t.Cleanup(proxy.Close)
	w.env = []string{"CARDWALL_URL=" + proxy.URL, "CARDWALL_TOKEN=" + w.Token}
	return w
}

// nextFault returns the fault of a request, and checks the request.
func (w *world) nextFault(r *http.Request) fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	key, write := r.Header.Get("Idempotency-Key"), r.Method != http.MethodGet
	if write != (key != "") {
		w.T.Errorf("%s %s has the idempotency key %q; want one for each write", r.Method, r.URL, key)
	}
	name := r.Method + r.URL.String() + key
	if early := time.Until(w.notBefore[name]); early > 0 {
		w.T.Errorf("%s %s was sent %v earlier than Retry-After allowed", r.Method, r.URL, early)
	}
	f := faults[w.place[write]%len(faults)]
	w.place[write]++
	w.injected[write][f]++
	if f == limitedLong {
		w.notBefore[name] = time.Now().Add(time.Second - 10*time.Millisecond) // timers may be early
	}
	return f
}

// ServeHTTP handles a request of the program. A panic closes the connection.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	f := w.nextFault(r)
	if refusal, ok := refusals[f]; ok {
		if refusal[2] != "" { // else the program chooses the wait
			rw.Header().Set("Retry-After", refusal[2])
		}
		status, _ := strconv.Atoi(refusal[0])
		rw.WriteHeader(status)
		fmt.Fprintf(rw, `{"error":{"code":%q,"message":"The proxy refuses this request."}}`, refusal[1])
		return
	}
	body, err := io.ReadAll(r.Body)
	if f == cutBefore || err != nil {
		panic(http.ErrAbortHandler)
	}
	if strings.HasSuffix(r.URL.Path, "/webhooks") && r.Method == http.MethodPost {
		body = bytes.Replace(body, []byte(w.receiver), []byte(w.relayAt), 1)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	recorded := httptest.NewRecorder()
	w.Handler.ServeHTTP(recorded, r)
	if recorded.Header().Get("Idempotent-Replayed") != "" {
		w.replays.Add(1)
	}
	if f == cutAfter {
		panic(http.ErrAbortHandler)
	}
	content := recorded.Body.Bytes()
	for name, values := range recorded.Header() {
		rw.Header()[name] = values
	}
	rw.Header().Set("Content-Length", strconv.Itoa(len(content)))
	rw.WriteHeader(recorded.Code)
	if f == cutWithin {
		_, _ = rw.Write(content[:len(content)/2])
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = rw.Write(content) // fails only if the program has disconnected
}

// relay sends a delivery to the program twice, after a forged copy.
func (w *world) relay(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	forged, status := bytes.Replace(body, []byte(`"id":"`), []byte(`"id":"forged`), 1), [3]int{}
	for i, body := range [][]byte{forged, body, body} {
		again, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, "http://"+w.receiver+r.URL.Path, bytes.NewReader(body))
		again.Header = r.Header.Clone()
		if response, err := http.DefaultClient.Do(again); err == nil { // the program may have ended
			status[i] = response.StatusCode
			_ = response.Body.Close()
		}
	}
	if status[0] < 400 || status[1]/100 != 2 {
		w.T.Errorf("the program responded to a forged delivery with status %d, and to a real one with %d", status[0], status[1])
	}
}

// checkFaults checks that every fault happened to reads and writes, and that a stored response was replayed.
func (w *world) checkFaults() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for write, injected := range w.injected {
		for _, f := range faults {
			if injected[f] == 0 {
				w.T.Errorf("no request had the fault %q (writes: %v): %v", f, write, injected)
			}
		}
	}
	if w.replays.Load() == 0 {
		w.T.Error("no write was repeated after it had taken effect")
	}
}

// start starts the program. The returned function waits for its end and returns the lines of its output.
func (w *world) start(args ...string) (wait func() []string) {
	var out, problems strings.Builder
	ctx, cancel := context.WithTimeout(w.T.Context(), 3*time.Minute)
	w.T.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, w.command[0], slices.Concat(w.command[1:], args)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = w.env, &out, &problems
	end := apptest.Start(w.T, cmd)
	return func() []string {
		w.T.Helper()
		if err := end(); err != nil {
			w.T.Fatalf("%q: %v; output:\n%s%s", args, err, &out, &problems)
		}
		return slices.Collect(strings.FieldsFuncSeq(out.String(), func(r rune) bool { return r == '\n' || r == '\r' }))
	}
}

// importCards checks that an import creates each card of a file once, in order.
func (w *world) importCards() (boardID string) {
	lists := []string{"To do", `In "progress"`, "Done, mostly"}
	rows, want := [][]string{{"list", "title", "description", "due"}}, map[string][]string{}
	for i := range 150 {
		list, due := lists[i*i%3+i/140], []string{fmt.Sprintf("2027-01-%02d", i%28+1), ""}[min(i%4, 1)]
		row := []string{list, fmt.Sprintf("Card %d, “ü”", i), strings.Repeat("\"Quoted\",\nand more.\n", i%3) + "end", due}
		rows, want[list] = append(rows, row), append(want[list], strings.Join(row[1:], "|"))
	}
	var text bytes.Buffer
	file := filepath.Join(w.T.TempDir(), "cards.csv")
	if err := errors.Join(csv.NewWriter(&text).WriteAll(rows), os.WriteFile(file, text.Bytes(), 0o600)); err != nil {
		w.T.Fatal(err)
	}
	out, boards := w.start("import", "Launch", file)(), w.All("list_boards", "id", apptest.Fields{"workspaceId": w.workspace})
	in := apptest.Fields{"boardId": strings.Join(out, ",")}
	names, ids := w.All("list_lists", "name", in), w.All("list_lists", "id", in)
	if !slices.Equal(out, boards) || !slices.Equal(names, lists) {
		w.T.Fatalf("import printed %q and created the boards %q with the lists %q, want one with %q", out, boards, names, lists)
	}
	for i, id := range ids {
		in["list"], in["sort"] = id, "position"
		got, texts, due := w.All("list_cards", "title", in), w.All("list_cards", "description", in), w.All("list_cards", "dueDate", in)
		for n := range got {
			got[n] += "|" + texts[n] + "|" + strings.Trim(due[n], "<nil>")
		}
		if !slices.Equal(got, want[lists[i]]) {
			w.T.Errorf("the list %s has the cards\n%q, want\n%q", lists[i], got, want[lists[i]])
		}
	}
	return out[0]
}

// changes returns the changes after a version of a board: the version and kind of each.
func (w *world) changes(boardID string, since int) []string {
	in := apptest.Fields{"boardId": boardID, "since": since}
	all, kinds := w.All("list_board_changes", "boardVersion", in), w.All("list_board_changes", "type", in)
	for i := range all {
		all[i] += " " + kinds[i]
	}
	return all
}

// version returns the version of a board.
func (w *world) version(boardID string) int {
	return int(w.Must("get_board", apptest.Fields{"boardId": boardID}).Get("version").(float64))
}

// work makes 18 changes to cards of a board, and creates a list.
func (w *world) work(boardID string) {
	lists := w.All("list_lists", "id", apptest.Fields{"boardId": boardID})
	for range 3 {
		card := w.Must("create_card", apptest.Fields{"listId": lists[0], "title": "New"}).ID()
		w.Must("update_card", apptest.Fields{"cardId": card, "title": "Newer"})
		w.Must("move_card", apptest.Fields{"cardId": card, "listId": lists[1], "position": "top"})
		w.Must("update_card", apptest.Fields{"cardId": card, "done": true})
		w.Must("add_comment", apptest.Fields{"cardId": card, "text": "Looks good."})
		w.Must("archive_card", apptest.Fields{"cardId": card})
	}
	w.Must("create_list", apptest.Fields{"boardId": boardID, "name": "Later"})
}

// watch checks that a receiver prints each event once, although deliveries are repeated and forged,
// and that it deletes its webhook.
func (w *world) watch(boardID string) {
	_, port, _ := strings.Cut(w.receiver, ":")
	since := w.version(boardID)
	wait := w.start("watch", boardID, port, "18")
	hooks := func() []string { return w.All("list_webhooks", "id", apptest.Fields{"workspaceId": w.workspace}) }
	apptest.Eventually(w.T, "the program creates a webhook", func() bool { return len(hooks()) > 0 })
	w.work(boardID)
	got, want := wait(), w.changes(boardID, since)[:18]
	for i, line := range got {
		kind, id, _ := strings.Cut(line, " ")
		got[i] = id[strings.LastIndex(id, ":v")+2:] + " " + kind
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.T.Errorf("watch printed the events\n%q, want\n%q", got, want)
	}
	if left := hooks(); len(left) > 0 {
		w.T.Errorf("watch left the webhooks %q", left)
	}
}

// catchUp checks that a program that was away for a day prints each change once, in order.
func (w *world) catchUp(boardID string) {
	file, since := filepath.Join(w.T.TempDir(), "cursor"), 0
	for i := range 3 {
		if got, want := w.start("catch-up", boardID, file)(), w.changes(boardID, since); !slices.Equal(got, want) {
			w.T.Errorf("catch-up after version %d printed\n%q, want\n%q", since, got, want)
		}
		since = w.version(boardID)
		if i == 1 { // which printed nothing
			w.Clock.Advance(24 * time.Hour)
			w.work(boardID)
			w.edit(boardID)
		}
	}
}

// edit checks that an edit labels all open cards, and that a repeated one changes nothing.
func (w *world) edit(boardID string) {
	in := apptest.Fields{"boardId": boardID, "archived": "false"}
	open := w.All("list_cards", "id", in)
	for i, want := range []int{len(open), 0} {
		since := w.version(boardID)
		got, changed := w.start("edit", boardID, "Reviewed")(), w.changes(boardID, since)
		if !slices.Equal(got, []string{strconv.Itoa(want)}) || i == 1 && len(changed) > 0 {
			w.T.Errorf("edit %d printed %q and made the changes %q, want %d", i, got, changed, want)
		}
	}
	labels := w.All("list_labels", "id", apptest.Fields{"boardId": boardID})
	in["label"], in["archived"] = strings.Join(labels, ","), "true"
	if got := w.All("list_cards", "id", in); len(labels) != 1 || !slices.Equal(got, open) {
		w.T.Errorf("the labels %q are on the cards %q, want one on the open cards, %q", labels, got, open)
	}
}
