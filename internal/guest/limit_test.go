package guest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/hook"
)

// wantLimited fails the test unless the response is 429 and its Retry-After is between
// one second and limit.
func wantLimited(t *testing.T, what string, a apptest.Response, limit time.Duration) {
	t.Helper()
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if a.Status != http.StatusTooManyRequests || a.Code != board.CodeRateLimited || err != nil || wait < 1 ||
		time.Duration(wait)*time.Second > limit {
		t.Errorf("%s: got status %d, body %s, Retry-After %q, want 429 and at most %s", what, a.Status, a.Raw,
			a.Header.Get("Retry-After"), limit)
	}
}

// TestGuestsAreLimited checks the limits per minute of a network and of a page. A minute
// later, guests can write again.
func TestGuestsAreLimited(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "submit", "comments": true})
		s.Clock.Stop()
		ticket, n := w.ticket(), 0
		write := func(network int) apptest.Response {
			n++
			guest := s.Browser()
			guest.From = fmt.Sprintf("198.51.100.%d:443", network)
			return guest.Call("submit_guest_card",
				fields{"key": w.key, "ticket": ticket, "name": "Rosa", "title": fmt.Sprint("Idea ", n)})
		}
		for network := range 4 {
			for range 30 {
				if a := write(network); a.Status != http.StatusCreated {
					t.Fatalf("card %d: got status %d, body %s; want 201", n, a.Status, a.Raw)
				}
			}
			wantLimited(t, "the 31st card from a network", write(network), time.Minute)
		}
		wantLimited(t, "the 121st card on a page", write(5), time.Minute)
		if titles := w.ada.All("list_cards", "title",
			fields{"boardId": w.board, "list": w.ideas, "limit": 200}); len(titles) != 1+120 {
			t.Errorf("got %d cards, want %d", len(titles), 1+120)
		}
		s.Clock.Advance(time.Minute)
		if a := write(0); a.Status != http.StatusCreated {
			t.Errorf("a minute later: got status %d, body %s; want 201", a.Status, a.Raw)
		}
		// Page views are counted per network, separately from sign-ins.
		for i := range 601 {
			a := w.view(fields{"tag": "x"})
			if i < 600 && a.Status != http.StatusOK {
				t.Fatalf("view %d: got status %d, body %s; want 200", i, a.Status, a.Raw)
			}
			if i == 600 {
				wantLimited(t, "the 601st view from a network", a, time.Minute)
				if a.Header.Get("X-RateLimit-Limit") != "600" || a.Header.Get("X-RateLimit-Remaining") != "0" {
					t.Errorf("got headers %v, want a limit of 600 and 0 remaining", a.Header)
				}
			}
		}
		w.guest.Must("get_sign_in_options", nil)
	})
}

// Submissions that no person would send are rejected with a reason.
func TestSpamIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "submit", "comments": true})
		s.Clock.Stop()
		in := submission()
		in["key"], in["name"], in["ticket"] = w.key, "Rosa", w.view(nil).Text("ticket")
		wantLimited(t, "sent immediately", w.guest.Call("submit_guest_card", in), 3*time.Second)
		s.Clock.Advance(3*time.Second - time.Millisecond)
		wantLimited(t, "sent just before the ticket is valid", w.guest.Call("submit_guest_card", in), time.Second)
		s.Clock.Advance(time.Millisecond)
		w.guest.Must("submit_guest_card", in)
		change := func(name string, v any) fields {
			out := fields{}
			for k, old := range in {
				out[k] = old
			}
			out[name] = v
			return out
		}
		for what, c := range map[string]struct {
			in      fields
			want    string
			message string // prefix of the error message
		}{
			"a hidden field":      {change("website", "https://spam.example"), forbidden, "website"},
			"no ticket":           {change("ticket", ""), "400 invalid_request", "ticket"},
			"an invalid ticket":   {change("ticket", strings.Repeat("A", 32)), "400 invalid_request", "ticket"},
			"no name":             {change("name", " \u200b "), "400 invalid_request", "name"},
			"a control character": {change("name", "Rosa\x1b[31m"), "400 invalid_request", "name"},
			"a long name":         {change("name", strings.Repeat("x", 61)), "400 invalid_request", "name"},
			"no title":            {change("title", " "), "400 invalid_request", "title"},
			"a long description": {change("description", strings.Repeat("x", 4001)), "400 invalid_request",
				"description"},
			"an unknown field": {change("listId", w.inside), "400 invalid_request", "listId"},
		} {
			if a := w.guest.Call("submit_guest_card", c.in); outcome(a) != c.want || !strings.HasPrefix(a.Message, c.message) {
				t.Errorf("%s: got status %d, body %s, want %s: %s…", what, a.Status, a.Raw, c.want, c.message)
			}
		}
		if a := w.guest.Call("submit_guest_card", change("description",
			strings.Repeat("x", 64<<10))); a.Status != http.StatusRequestEntityTooLarge ||
			!strings.Contains(a.Message, "64 KiB") {
			t.Errorf("large body: got status %d, body %s, want 413", a.Status, a.Raw)
		}
		crossSite := http.Header{"Sec-Fetch-Site": {"cross-site"}}
		if a := w.guest.CallWith("submit_guest_card", in, crossSite); outcome(a) != forbidden {
			t.Errorf("from another site's page: got status %d, body %s, want %s", a.Status, a.Raw, forbidden)
		}
		s.Clock.Advance(24 * time.Hour)
		if a := w.guest.Call("submit_guest_card", in); outcome(a) != "400 invalid_request" ||
			!strings.Contains(a.Message, "day old") {
			t.Errorf("a day later: got status %d, body %s, want an error about the old ticket", a.Status, a.Raw)
		}
	})
}

// An idempotency key makes a submission safe to retry. The key applies to one page, and
// only while the page is enabled.
func TestGuestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "read"})
		in := w.written(submission())
		if a := w.guest.Keyed("k", "submit_guest_card", in); outcome(a) != forbidden {
			t.Fatalf("on a read-only page: got status %d, body %s, want %s", a.Status, a.Raw, forbidden)
		}
		w.open(fields{"mode": "submit"}) // the error was not stored
		first := w.guest.Keyed("k", "submit_guest_card", in)
		again := w.guest.At(s.Node()).Keyed("k", "submit_guest_card", in)
		if first.Status != http.StatusCreated || again.Status != first.Status || !bytes.Equal(first.Raw, again.Raw) ||
			again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("got %d %s at first and %d %s on a retry, want the same response", first.Status, first.Raw,
				again.Status, again.Raw)
		}
		if cards := w.ada.All("list_cards", "title", fields{"boardId": w.board, "list": w.ideas}); len(cards) != 2 {
			t.Errorf("got cards %q, want 2", cards)
		}
		other := w.written(fields{"title": "Another"})
		if a := w.guest.Keyed("k", "submit_guest_card", other); a.Code != board.CodeInvalidRequest ||
			!strings.Contains(a.Message, "Idempotency-Key") {
			t.Errorf("the same key with another card: got status %d, body %s, want invalid_request", a.Status, a.Raw)
		}
		// The same key on another page, or from a member, is a different key.
		second := secondBoard(w)
		if a := w.guest.Keyed("k", "submit_guest_card", second.written(submission())); a.Status != http.StatusCreated ||
			a.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("on another page: got status %d, body %s, want a new card", a.Status, a.Raw)
		}
		if a := w.ada.Keyed("k", "create_card", fields{"listId": w.ideas, "title": "Mine"}); a.Status != http.StatusCreated {
			t.Errorf("a member's key: got status %d, body %s; want 201", a.Status, a.Raw)
		}
		w.ada.Must("update_public_page", fields{"boardId": w.board, "on": false})
		if a := w.guest.Keyed("k", "submit_guest_card", in); outcome(a) != notFound {
			t.Errorf("a retry on a disabled page: got status %d, body %s, want %s", a.Status, a.Raw, notFound)
		}
	})
}

// The content of an unchanged page is not sent again. A change to the page's cards, settings
// or state changes its tag.
func TestUnchangedPageReturnsOnlyItsTag(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.open(fields{"mode": "submit"})
		tag := w.view(nil).Text("tag")
		for what, change := range map[string]func(){
			"a card":       func() { w.make("create_card", fields{"listId": w.ideas, "title": "New"}) },
			"the settings": func() { s.Clock.Advance(time.Millisecond); w.open(fields{"welcome": fmt.Sprint(s.Clock.Now())}) },
			"the state":    func() { w.ada.Must("archive_board", fields{"boardId": w.board}) },
		} {
			if a := w.view(fields{"tag": tag}); a.Get("board") != nil || a.Text("tag") != tag || a.Text("ticket") == "" {
				t.Errorf("before a change to %s: got %s, want the same tag and no board", what, a.Raw)
			}
			change()
			a := w.view(fields{"tag": tag})
			if a.Get("board") == nil || a.Text("tag") == tag {
				t.Errorf("after a change to %s: got %s, want a new tag and the board", what, a.Raw)
			}
			tag = a.Text("tag")
			if what == "the state" {
				w.ada.Must("restore_board", fields{"boardId": w.board})
				tag = w.view(nil).Text("tag")
			}
		}
	})
}

// A guest's card and comment reach webhook receivers as events with an actor of type
// guest. The events contain neither the guest's name nor the page's key.
func TestWebhooksDeliverGuestEvents(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		bodies := make(chan []byte, 8)
		receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies <- body
			rw.WriteHeader(http.StatusNoContent)
		}))
		defer receiver.Close()
		guard, err := hook.NewGuard(hook.GuardOptions{Allow: []string{"127.0.0.1"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		sender := hook.New(hook.Options{DB: s.DB, Guard: guard, Holder: "srv_test",
			Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))})
		go func() { defer close(done); sender.Run(ctx) }()
		defer func() { cancel(); <-done }()

		w.make("create_webhook",
			fields{"boardId": w.board, "url": receiver.URL, "events": []string{"card.created", "comment.added"}})
		w.open(fields{"mode": "submit", "comments": true})
		w.guest.Must("submit_guest_card", w.written(submission()))
		w.guest.Must("add_guest_comment", w.written(comment()))
		card := w.ada.Must("list_cards", fields{"boardId": w.board, "list": w.ideas}).Text("1.id")
		want := map[string]string{"card.created": card, "comment.added": w.card}
		for len(want) > 0 {
			body, _ := apptest.Receive(t, fmt.Sprintf("the deliveries of %v arrive", want), bodies)
			var event struct {
				Type  string `json:"type"`
				Actor struct {
					Type string  `json:"type"`
					ID   *string `json:"id"`
				} `json:"actor"`
				BoardID string `json:"boardId"`
				Data    struct {
					CardID string `json:"cardId"`
				} `json:"data"`
				Links map[string]string `json:"links"`
			}
			if err := json.Unmarshal(body, &event); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if event.Actor.Type != "guest" || event.Actor.ID != nil || event.BoardID != w.board ||
				event.Data.CardID != want[event.Type] || len(event.Links) == 0 {
				t.Errorf("got delivery %s, want an event by a guest", body)
			}
			if bytes.Contains(body, []byte("Rosa")) || bytes.Contains(body, []byte(w.key)) ||
				bytes.Contains(body, []byte("venue")) {
				t.Errorf("got delivery %s, want no private data", body)
			}
			delete(want, event.Type)
		}
	})
}
