package live_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/live"
	"cardwall/internal/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

type fields = apptest.Fields

// browser reads a stream over a real connection.
type browser struct {
	t      *testing.T
	events chan event
	status int
}

type event struct {
	name string
	data map[string]any
}

// open opens a stream of the boards as the given person.
func open(t *testing.T, p *apptest.Person, boards ...string) *browser {
	t.Helper()
	server := httptest.NewServer(p.Handler)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/api/app/v1/live?boards="+strings.Join(boards, ","), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Token)
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, events: make(chan event, 100), status: response.StatusCode}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(b.events)
		var e event
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			switch key, value, _ := strings.Cut(lines.Text(), ": "); key {
			case "event":
				e.name = value
			case "data":
				if err := json.Unmarshal([]byte(value), &e.data); err != nil {
					t.Errorf("%v: %s", err, value)
				}
			case "":
				if e.name != "" {
					b.events <- e
				}
				e = event{}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = response.Body.Close()
		<-read
		server.Close()
	})
	return b
}

// next returns the data of the next event with the given name. It skips other events.
func (b *browser) next(name string) map[string]any {
	b.t.Helper()
	for {
		e, ok := apptest.Receive(b.t, "the event "+name+" arrives", b.events)
		if !ok {
			b.t.Fatalf("the stream ended before %s", name)
		}
		if e.name == name {
			return e.data
		}
	}
}

// The stream sends each change as list_board_changes returns it, with the tab that
// caused it, even if the change was made on another server.
func TestStreamSendsEachChangeOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		b := open(t, ada, id)
		if hello := b.next("hello"); hello["boards"].(map[string]any)[id] != 1.0 {
			t.Errorf("got hello %v, want version 1 of the board", hello)
		}
		elsewhere := ada.At(s.Node())
		if !s.DB.Shared() {
			elsewhere = ada // SQLite has one server
		}
		since := 1.0
		for i, p := range []*apptest.Person{ada, elsewhere, ada} {
			a := p.Send("POST", "/boards/"+id+"/lists", `{"name":"L"}`, "X-Client", "tab-"+string(rune('a'+i)))
			e := b.next("change")
			want := ada.Must("list_board_changes", fields{"boardId": id, "since": since}).Get("0").(map[string]any)
			since++
			if e["client"] != "tab-"+string(rune('a'+i)) || e["boardVersion"] != float64(a.Version) ||
				e["boardVersion"] != since || e["id"] != want["id"] || e["type"] != "list.created" || e["listId"] != a.ID() {
				t.Errorf("change %d: got %v, want %v", i, e, want)
			}
		}
	})
}

// When a person loses access to a board, the stream says so and sends no more changes
// of that board.
func TestStreamOmitsBoardsWithoutAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob := s.Person("Bob").Joins(workspace, board.WorkspaceMember)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		secret := ada.Must("create_board", fields{"workspaceId": workspace, "name": "S", "visibility": "private"}).ID()
		b := open(t, bob, id, secret)
		if hello := b.next("hello")["boards"].(map[string]any); len(hello) != 1 || hello[id] == nil {
			t.Errorf("got hello %v, want only the visible board", hello)
		}
		if gone := b.next("gone"); gone["boardId"] != secret {
			t.Errorf("got gone %v, want the board %s", gone, secret)
		}
		ada.Must("create_list", fields{"boardId": secret, "name": "Hidden"})
		ada.Must("update_board", fields{"boardId": id, "visibility": "private"})
		ada.Must("create_list", fields{"boardId": id, "name": "Hidden too"})
		for {
			e, ok := <-b.events
			if !ok || e.name == "gone" {
				break
			}
			if e.name == "change" {
				t.Errorf("got change %v on a board that Bob cannot see", e.data)
			}
		}
	})
}

// People who have a board open see who else has it open.
func TestPresence(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob := s.Person("Bob").Joins(workspace, board.WorkspaceMember)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		a := open(t, ada, id)
		names := func() (out []string) {
			for _, p := range a.next("presence")["people"].([]any) {
				out = append(out, p.(map[string]any)["name"].(string))
			}
			return out
		}
		if got := names(); !slices.Equal(got, []string{"Ada"}) {
			t.Errorf("got people %v, want %v", got, []string{"Ada"})
		}
		t.Run("with Bob", func(t *testing.T) {
			open(t, bob, id).next("presence")
			if got := names(); !slices.Equal(got, []string{"Ada", "Bob"}) {
				t.Errorf("got people %v, want %v", got, []string{"Ada", "Bob"})
			}
		})
		if got := names(); !slices.Equal(got, []string{"Ada"}) {
			t.Errorf("after Bob left: got people %v, want %v", got, []string{"Ada"})
		}
	})
}

// Without boards, the stream sends the number of unread notifications when it opens, and
// after each change of that number on any server.
func TestStreamSendsUnreadCount(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		list := ada.Must("create_list", fields{"boardId": id, "name": "L"}).ID()
		b := open(t, bob)
		if e := b.next("notifications"); e["unread"] != 0.0 || e["newest"] != "" {
			t.Errorf("first event: got %v, want 0 unread", e)
		}
		elsewhere := ada.At(s.Node())
		if !s.DB.Shared() {
			elsewhere = ada // SQLite has one server
		}
		for i, p := range []*apptest.Person{ada, elsewhere} {
			p.Must("create_card", fields{"listId": list, "title": "Yours", "assignees": []string{bob.ID}})
			newest := bob.Must("list_notifications", nil).Text("0.id")
			if e := b.next("notifications"); e["unread"] != float64(i+1) || e["newest"] != newest {
				t.Errorf("got %v, want %d unread and the newest %s", e, i+1, newest)
			}
		}
		bob.Must("mark_all_notifications", nil)
		if e := b.next("notifications"); e["unread"] != 0.0 {
			t.Errorf("after marking all as read: got %v, want 0 unread", e)
		}
		other := open(t, bob.Within(workspace), id)
		other.next("hello")
		ada.Must("create_card", fields{"listId": list, "title": "Yours", "assignees": []string{bob.ID}})
		b.next("notifications")
		ada.Must("update_board", fields{"boardId": id, "name": "The last change"})
		for {
			e, ok := apptest.Receive(t, "the last change arrives", other.events)
			if !ok || e.name == "notifications" {
				t.Errorf("a token for one workspace: got %v (stream open: %t), want no notifications", e, ok)
			}
			if !ok || e.data["type"] == "board.updated" {
				break
			}
		}
	})
}

// All servers share presence. A person who closes a stream on one server and keeps one
// on another is still present.
func TestPresenceCoversAllServers(t *testing.T) {
	t.Parallel()
	// No server records a presence again before the end of the test, except after a stream ended.
	s := apptest.New(t, apptest.PostgresURL(t), apptest.Options{LiveInterval: time.Hour})
	nodes := []*apptest.Service{s, s.Node(), s.Node()}
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", board.PlanTeam)
	bob := s.Person("Bob").Joins(workspace, board.WorkspaceMember)
	id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
	a := open(t, ada, id)
	until := func(want ...string) {
		t.Helper()
		for {
			var got []string
			for _, p := range a.next("presence")["people"].([]any) {
				got = append(got, p.(map[string]any)["name"].(string))
			}
			if slices.Equal(got, want) {
				return
			}
		}
	}
	until("Ada")
	t.Run("with Bob on two other servers", func(t *testing.T) {
		open(t, bob.At(nodes[1]), id).next("presence")
		until("Ada", "Bob")
		t.Run("who leaves one of them", func(t *testing.T) { open(t, bob.At(nodes[2]), id).next("presence") })
		apptest.Eventually(t, "the server that Bob is still connected to records him again", func() bool {
			return present(t, s, id, bob)
		})
		if people := shownTo(t, ada.At(nodes[2]), id); !slices.Equal(people, []string{"Ada", "Bob"}) {
			t.Errorf("with Bob on one server: got people %v, want %v", people, []string{"Ada", "Bob"})
		}
	})
	until("Ada")
}

// present reports whether the database lists a person as present on a board.
func present(t *testing.T, s *apptest.Service, boardID string, p *apptest.Person) bool {
	t.Helper()
	people, err := s.DB.PresentOn(t.Context(), []string{boardID})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(people[boardID], p.ID)
}

// shownTo returns the names of the people whom a new stream lists as present.
func shownTo(t *testing.T, p *apptest.Person, boardID string) (names []string) {
	t.Helper()
	for _, person := range open(t, p, boardID).next("presence")["people"].([]any) {
		names = append(names, person.(map[string]any)["name"].(string))
	}
	return names
}

// After a caller loses access, its streams end on every server, even if nothing happens on the
// board and nothing is sent.
func TestStreamEndsWhenItsCallerLosesAccess(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{LiveInterval: time.Hour}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		at := []*apptest.Service{s, s, s}
		if s.DB.Shared() {
			at = []*apptest.Service{s, s.Node(), s.Node()}
		}
		for what, end := range map[string]func(p *apptest.Person){
			"a revoked token": func(p *apptest.Person) {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
					_, err := tx.RevokeTokens(ctx, p.ID, apptest.TokenName)
					return err
				})
			},
			"a member who left": func(p *apptest.Person) {
				ada.Must("remove_member", fields{"workspaceId": workspace, "userId": p.ID})
			},
			"a deleted account": func(p *apptest.Person) {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, p.ID) })
			},
		} {
			p := s.Person("P"+what[2:5]).Joins(workspace, board.WorkspaceMember)
			var streams []*browser
			for _, node := range at {
				b := open(t, p.Within(workspace).At(node), id)
				b.next("hello")
				streams = append(streams, b)
			}
			other := open(t, ada, id)
			other.next("hello")
			end(p)
			for i, b := range streams {
				for open := true; open; {
					_, open = apptest.Receive(t, fmt.Sprintf("%s ends the stream on server %d", what, i), b.events)
				}
			}
			ada.Must("create_list", fields{"boardId": id, "name": "L"})
			other.next("change") // another person's stream goes on
		}
	})
}

// signalingRecorder is a response recorder that signals each write.
type signalingRecorder struct {
	*httptest.ResponseRecorder
	wrote chan struct{}
}

func (b *signalingRecorder) Write(text []byte) (int, error) {
	n, err := b.ResponseRecorder.Write(text)
	b.wrote <- struct{}{}
	return n, err
}

// A server that is shutting down tells browsers when to reconnect and accepts no new
// streams.
func TestShutdownEndsStreams(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	hub := live.NewHub(s.DB, slog.New(slog.DiscardHandler))
	caller := board.Person(ada.ID, board.ScopeRead)
	serve := func(w http.ResponseWriter) error {
		return hub.Serve(w, httptest.NewRequest("GET", "/live", nil), caller, func() error { return nil })
	}
	w, ended := &signalingRecorder{httptest.NewRecorder(), make(chan struct{}, 100)}, make(chan error, 1)
	go func() { ended <- serve(w) }()
	select {
	case <-w.wrote: // the stream is open
	case err := <-ended:
		t.Fatal(err)
	}
	hub.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`\nretry: \d{3,4}\nevent: again\ndata: \{\}\n\n$`).MatchString(w.Body.String()) {
		t.Errorf("got stream %q, want retry and again at its end", w.Body)
	}
	if err := serve(httptest.NewRecorder()); !board.IsCode(err, board.CodeUnavailable) {
		t.Errorf("a new stream: got error %v, want code %s", err, board.CodeUnavailable)
	}
}

func TestStreamRejectsTooManyBoards(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	for query, status := range map[string]int{"?boards=" + manyBoards(): 400} {
		r := httptest.NewRequest("GET", "/api/app/v1/live"+query, nil)
		if a := ada.Do(r); a.Status != status || a.Code != board.CodeInvalidRequest {
			t.Errorf("%.20s: got status %d, body %s; want %d invalid_request", query, a.Status, a.Raw, status)
		}
	}
	ada.Token = ""
	if a := ada.Do(httptest.NewRequest("GET", "/api/app/v1/live?boards=x", nil)); a.Status != 401 {
		t.Errorf("without a token: got status %d, body %s; want 401", a.Status, a.Raw)
	}
}

func manyBoards() string {
	ids := make([]string, 51)
	for i := range ids {
		ids[i] = "brd_" + string(rune('A'+i))
	}
	return strings.Join(ids, ",")
}

// A person can have 20 streams on a server. One more is refused like any other request that exceeds a
// limit on concurrent requests.
func TestStreamsOfAPersonAreLimited(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada, bob := s.Person("Ada"), s.Person("Bob")
	hub := live.NewHub(s.DB, slog.New(slog.DiscardHandler))
	serve := func(p *apptest.Person, w http.ResponseWriter) error {
		return hub.Serve(w, httptest.NewRequest("GET", "/live", nil), board.Person(p.ID, board.ScopeRead), func() error { return nil })
	}
	var streams sync.WaitGroup
	opened := func(p *apptest.Person) {
		w := &signalingRecorder{httptest.NewRecorder(), make(chan struct{}, 100)}
		streams.Go(func() {
			if err := serve(p, w); err != nil {
				t.Error(err)
			}
		})
		apptest.Receive(t, "the stream is open", w.wrote)
	}
	for range 20 {
		opened(ada)
	}
	err := serve(ada, httptest.NewRecorder())
	if f, ok := board.AsFault(err); !ok || f.Code != board.CodeRateLimited || f.Reason != board.ReasonTooManyAtOnce || f.RetryAfter == 0 {
		t.Errorf("one more stream: got %v, want %s with %s and a wait", err, board.CodeRateLimited, board.ReasonTooManyAtOnce)
	}
	opened(bob)
	hub.Close()
	streams.Wait()
}
