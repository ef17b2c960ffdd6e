package live_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

type fields = apptest.Fields

// browser is a stream that is open over a real connection.
type browser struct {
	t      *testing.T
	events chan event
	status int
}

type event struct {
	name string
	data map[string]any
}

func open(t *testing.T, p *apptest.Person, boards ...string) *browser {
	t.Helper()
	server := httptest.NewServer(p.Handler)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/api/app/v1/live?boards="+strings.Join(boards, ","), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Token)
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, events: make(chan event, 100), status: answer.StatusCode}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(b.events)
		var e event
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
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
		_ = answer.Body.Close()
		<-read
		server.Close()
	})
	return b
}

// next is the next event of a name; others are let go by.
func (b *browser) next(name string) map[string]any {
	b.t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case e, ok := <-b.events:
			if !ok {
				b.t.Fatalf("the stream ended before %s", name)
			}
			if e.name == name {
				return e.data
			}
		case <-limit:
			b.t.Fatalf("there was no %s", name)
		}
	}
}

// The stream tells each change as list_board_changes does, with the tab that
// caused it, also when another server made it.
func TestStreamTellsEachChangeOnce(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		b := open(t, ada, id)
		if hello := b.next("hello"); hello["boards"].(map[string]any)[id] != 1.0 {
			t.Errorf("hello is %v", hello)
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
			if e["client"] != "tab-"+string(rune('a'+i)) || e["boardVersion"] != float64(a.Version) || e["boardVersion"] != since || e["id"] != want["id"] || e["type"] != "list.created" || e["listId"] != a.ID() {
				t.Errorf("change %d is %v, want %v", i, e, want)
			}
		}
	})
}

// A right that ends, ends in the stream, and what a person never saw is not in it.
func TestStreamEndsWithTheRight(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob := s.Person("Bob").Joins(workspace, board.WorkspaceMember)
		id := ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID()
		secret := ada.Must("create_board", fields{"workspaceId": workspace, "name": "S", "visibility": "private"}).ID()
		b := open(t, bob, id, secret)
		if hello := b.next("hello")["boards"].(map[string]any); len(hello) != 1 || hello[id] == nil {
			t.Errorf("Bob's hello is %v", hello)
		}
		if gone := b.next("gone"); gone["boardId"] != secret {
			t.Errorf("gone is %v", gone)
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
				t.Errorf("Bob was told %v", e.data)
			}
		}
	})
}

// Who has the board open is told to all who have, until they leave.
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
			t.Errorf("present are %v", got)
		}
		t.Run("while Bob is there", func(t *testing.T) {
			open(t, bob, id).next("presence")
			if got := names(); !slices.Equal(got, []string{"Ada", "Bob"}) {
				t.Errorf("present are %v", got)
			}
		})
		if got := names(); !slices.Equal(got, []string{"Ada"}) {
			t.Errorf("after Bob left present are %v", got)
		}
	})
}

// Without boards the stream tells how many notifications wait, at once and
// whenever that changes, whichever server it was that changed it.
func TestStreamTellsOfNotifications(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		list := ada.Must("create_list", fields{"boardId": ada.Must("create_board", fields{"workspaceId": workspace, "name": "B"}).ID(), "name": "L"}).ID()
		b := open(t, bob)
		if e := b.next("notifications"); e["unread"] != 0.0 || e["newest"] != "" {
			t.Errorf("at first: %v", e)
		}
		elsewhere := ada.At(s.Node())
		if !s.DB.Shared() {
			elsewhere = ada // SQLite has one server
		}
		for i, p := range []*apptest.Person{ada, elsewhere} {
			p.Must("create_card", fields{"listId": list, "title": "Yours", "assignees": []string{bob.ID}})
			newest := bob.Must("list_notifications", nil).Text("0.id")
			if e := b.next("notifications"); e["unread"] != float64(i+1) || e["newest"] != newest {
				t.Errorf("after %d: %v, the newest is %s", i+1, e, newest)
			}
		}
		bob.Must("mark_all_notifications", nil)
		if e := b.next("notifications"); e["unread"] != 0.0 {
			t.Errorf("all read: %v", e)
		}
		other := open(t, bob.Within(workspace))
		other.next("hello")
		ada.Must("create_card", fields{"listId": list, "title": "Yours", "assignees": []string{bob.ID}})
		b.next("notifications")
		select {
		case e := <-other.events:
			if e.name == "notifications" {
				t.Errorf("a token for one workspace is told %v", e.data)
			}
		default:
		}
	})
}

func TestStreamRefusesByName(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	for query, status := range map[string]int{"?boards=" + manyBoards(): 400} {
		r := httptest.NewRequest("GET", "/api/app/v1/live"+query, nil)
		if a := ada.Do(r); a.Status != status || a.Code != board.CodeInvalidRequest {
			t.Errorf("%.20s: %d %s", query, a.Status, a.Raw)
		}
	}
	ada.Token = ""
	if a := ada.Do(httptest.NewRequest("GET", "/api/app/v1/live?boards=x", nil)); a.Status != 401 {
		t.Errorf("a stranger: %d %s", a.Status, a.Raw)
	}
}

func manyBoards() string {
	ids := make([]string, 51)
	for i := range ids {
		ids[i] = "brd_" + string(rune('A'+i))
	}
	return strings.Join(ids, ",")
}
