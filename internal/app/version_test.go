package app_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/op"
)

// ifMatch returns the header of a request that depends on an entity tag.
func ifMatch(tag string) http.Header { return http.Header{"If-Match": {tag}} }

// conflict is the error of a version conflict.
type conflict struct {
	Error struct {
		Reason  string `json:"reason"`
		Current any    `json:"current"`
	} `json:"error"`
}

// recordOf returns the operation that reads the record at the start of an operation's path, or nil.
func recordOf(s *apptest.Service, o *op.Operation) *op.Operation {
	parts := strings.SplitN(o.Path, "/", 4)
	for _, record := range s.Registry.All() {
		if len(parts) > 2 && record.Method == http.MethodGet && record.Path == "/"+parts[1]+"/"+parts[2] {
			return record
		}
	}
	return nil
}

// TestEveryConditionalOperation calls each operation that supports If-Match with another entity tag, which is
// refused with the current state, and with the current one.
func TestEveryConditionalOperation(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		count := 0
		for _, o := range s.Registry.All() {
			if !o.Conditional() {
				continue
			}
			count++
			caller, in, record := w.as(o), w.sample(t, o), recordOf(s, o)
			id := fields{}
			for _, f := range record.Input.Fields {
				id[f.Name] = in[f.Name]
			}
			current := caller.Must(record.Name, id)
			for _, tag := range []string{`"other"`, `W/"other", "x"`} {
				a := caller.CallWith(o.Name, in, ifMatch(tag))
				var c conflict
				if err := json.Unmarshal(a.Raw, &c); err != nil {
					t.Fatal(err)
				}
				if a.Status != http.StatusPreconditionFailed || a.Code != "invalid_request" || a.Header.Get("ETag") != current.Header.Get("ETag") ||
					c.Error.Reason != "version_conflict" || !reflect.DeepEqual(c.Error.Current, current.Data) {
					t.Errorf("%s with If-Match %s: got status %d, ETag %s, body %s; want 412 with %s of %s", o.Name, tag, a.Status,
						a.Header.Get("ETag"), a.Raw, current.Raw, record.Name)
				}
			}
			if again := caller.Must(record.Name, id); !bytes.Equal(again.Raw, current.Raw) {
				t.Errorf("%s was refused, but changed %s to %s", o.Name, current.Raw, again.Raw)
			}
			if a := caller.CallWith(o.Name, in, ifMatch(`"other", `+current.Header.Get("ETag"))); a.Status/100 != 2 {
				t.Errorf("%s with the current tag: got status %d, body %s; want success", o.Name, a.Status, a.Raw)
			}
		}
		if count < 30 {
			t.Errorf("%d operations support If-Match, want at least 30", count)
		}
	})
}

// TestNoUpdateIsLost lets clients of two servers read a card, change what they read and write it with If-Match.
// Each write that succeeds is based on the write before.
func TestNoUpdateIsLost(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		_, lists, cards := newBoardWithCards(ada, ada.Workspace("Engines", "team"), 1, 1)
		id := fields{"cardId": cards[lists[0]][0]}
		ada.Must("update_card", with(id, "title", "0"))
		at := []*apptest.Person{ada, ada.At(s.Node())}
		var wg sync.WaitGroup
		var conflicts [4]int
		for client := range conflicts {
			wg.Go(func() {
				for succeeded := 0; succeeded < 5; {
					before := at[client%2].Must("get_card", id)
					var n int
					_, _ = fmt.Sscan(before.Text("title"), &n)
					a := at[client%2].CallWith("update_card", with(id, "title", fmt.Sprint(n+1)), ifMatch(before.Header.Get("ETag")))
					switch a.Status {
					case http.StatusOK:
						succeeded++
					case http.StatusPreconditionFailed:
						conflicts[client]++
					default:
						t.Errorf("got status %d, body %s; want 200 or 412", a.Status, a.Raw)
						return
					}
				}
			})
		}
		wg.Wait()
		if got := ada.Must("get_card", id).Text("title"); got != "20" {
			t.Errorf("after 20 successful increments, the title is %s, with %d conflicts; want 20", got, conflicts)
		}
	})
}

func TestIfMatchAndIdempotency(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		boardID, lists, cards := newBoardWithCards(ada, ada.Workspace("Engines", "team"), 1, 1)
		id := fields{"cardId": cards[lists[0]][0]}
		send := func(title, tag string) apptest.Response {
			return ada.CallWith("update_card", with(id, "title", title), http.Header{"If-Match": {tag}, "Idempotency-Key": {"k-" + title}})
		}
		tag := ada.Must("get_card", id).Header.Get("ETag")
		a, again := send("Mill", tag), send("Mill", tag)
		if a.Status != 200 || again.Status != 200 || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("a retry with the same If-Match: got status %d, then %d, body %s; want the replay of 200", a.Status, again.Status, again.Raw)
		}
		conflict := send("Store", tag)
		a = send("Store", conflict.Header.Get("ETag"))
		if conflict.Status != 412 || a.Status != 200 || a.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("a retry with the tag of the conflict: got status %d, then %d, body %s; want 412, then 200", conflict.Status, a.Status, a.Raw)
		}
		if a := ada.CallWith("update_card", with(id, "title", "Any"), ifMatch("*")); a.Status != 200 {
			t.Errorf("If-Match *: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		// A change to something else on the board is no conflict.
		tag = ada.Must("get_card", id).Header.Get("ETag")
		ada.Must("create_card", fields{"listId": lists[0], "title": "Another"})
		if a := ada.CallWith("archive_card", id, ifMatch(tag)); a.Status != 200 {
			t.Errorf("after another card was created: got status %d, body %s; want 200", a.Status, a.Raw)
		}
		for name, in := range map[string]fields{
			"create_board": {"workspaceId": ada.Must("get_board", fields{"boardId": boardID}).Text("workspaceId"), "name": "x"},
			"delete_label": {"labelId": ada.Must("create_label", fields{"boardId": boardID, "name": "x", "color": "red"}).ID()},
		} {
			if a := ada.CallWith(name, in, ifMatch(`"x"`)); a.Status != 400 || !strings.Contains(a.Message, "If-Match") {
				t.Errorf("%s with If-Match: got status %d, body %s; want 400", name, a.Status, a.Raw)
			}
		}
		if a := s.Person("Eve").CallWith("update_card", with(id, "title", "x"), ifMatch(`"x"`)); a.Code != "not_found" {
			t.Errorf("a person who cannot see the card: got status %d, body %s; want not_found", a.Status, a.Raw)
		}
	})
}

// timed lists the operations whose responses contain the time of the request.
var timed = []string{"get_my_overview", "get_workspace_dashboard", "get_board_digest", "get_workspace_digest",
	"get_webhook_health", "list_workspace_changes"} // the latter only without a cursor

// TestEveryReadHasAnEntityTag repeats each read of the public interface with the tag of its response.
func TestEveryReadHasAnEntityTag(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, o := range s.Registry.All() {
			if !o.Tagged() || slices.Contains(timed, o.Name) {
				continue
			}
			in := w.sample(t, o)
			a := w.owner.Must(o.Name, in)
			tag := a.Header.Get("ETag")
			if again := w.owner.CallWith(o.Name, in, http.Header{"If-None-Match": {tag}}); tag == "" || again.Status != http.StatusNotModified ||
				again.Header.Get("ETag") != tag || len(again.Raw) != 0 {
				t.Errorf("%s with If-None-Match %s: got status %d, ETag %s, body %s; want 304", o.Name, tag, again.Status, again.Header.Get("ETag"),
					again.Raw)
			}
		}
	})
}

// A compressed response is another representation, so it has another entity tag (RFC 9110, 8.8.3.3). Either tag
// identifies the card.
func TestEntityTagOfCompressedResponse(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		_, lists, cards := newBoardWithCards(ada, ada.Workspace("Engines", "team"), 1, 1)
		id := fields{"cardId": cards[lists[0]][0]}
		ada.Must("update_card", with(id, "description", strings.Repeat("An okapi. ", 1500)))
		plain := ada.Must("get_card", id).Header.Get("ETag")
		r := ada.Request(s.Registry.Named("get_card"), id)
		r.Header.Set("Accept-Encoding", "gzip")
		r.Header.Set("Authorization", "Bearer "+ada.Token)
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		compressed := w.Header().Get("ETag")
		if want := strings.TrimSuffix(plain, `"`) + `-gzip"`; compressed != want {
			t.Fatalf("the tag of the compressed response is %s, want %s", compressed, want)
		}
		if a := ada.CallWith("get_card", id, http.Header{"If-None-Match": {compressed}}); a.Status != 304 || a.Header.Get("ETag") != compressed {
			t.Errorf("If-None-Match: got status %d, ETag %s; want 304 with %s", a.Status, a.Header.Get("ETag"), compressed)
		}
		for _, weaken := range []bool{false, true} {
			tag := ada.Must("get_card", id).Header.Get("ETag")
			if weaken {
				tag = "W/" + tag
			} else {
				tag = strings.TrimSuffix(tag, `"`) + `-gzip"`
			}
			if a := ada.CallWith("archive_card", id, ifMatch(tag)); a.Status != 200 {
				t.Errorf("If-Match %s: got status %d, body %s; want 200", tag, a.Status, a.Raw)
			}
			ada.Must("restore_card", id)
		}
	})
}
