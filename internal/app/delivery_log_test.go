package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A delivery names its board and card, as far as the caller can see them now.
func TestDeliveriesNameBoardAndCard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		admin := s.Person("Bea").Joins(w.workspace, board.WorkspaceAdmin)
		hook := w.make("create_webhook", with(w.newWebhook(), "events", []string{"card.created", "list.created"}))
		b := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Website"})
		list := w.make("create_list", fields{"boardId": b, "name": "To do"})
		card := w.owner.Must("create_card", fields{"listId": list, "title": "Login page"})
		got := func(p *apptest.Person) map[string]any {
			t.Helper()
			d, _ := p.Must("list_deliveries", fields{"webhookId": hook, "type": "card.created"}).Get("0").(map[string]any)
			one := p.Must("get_delivery", fields{"deliveryId": d["id"]})
			for _, name := range []string{"boardName", "cardId", "cardNumber", "cardTitle"} {
				if one.Get(name) != d[name] {
					t.Errorf("%s of the delivery is %v, but %v in the list", name, one.Get(name), d[name])
				}
			}
			return d
		}
		named := func(d map[string]any, want bool) bool {
			return d["cardId"] == card.ID() && (d["boardName"] == "Website") == want && (d["boardName"] == nil) != want &&
				(d["cardTitle"] == "Login page" && d["cardNumber"] == 1.0) == want && (d["cardTitle"] == nil && d["cardNumber"] == nil) != want
		}
		if d := got(admin); !named(d, true) {
			t.Errorf("got %v, want the names", d)
		}
		if a := w.owner.Must("list_deliveries", fields{"webhookId": hook, "type": "list.created"}); a.Get("0.cardId") != nil ||
			a.Get("0.cardTitle") != nil || a.Get("0.boardName") != "Website" {
			t.Errorf("the delivery of a list is %s, want no card", a.Raw)
		}
		w.owner.Must("update_board", fields{"boardId": b, "visibility": "private"})
		if d := got(admin); !named(d, false) {
			t.Errorf("after the board became private, an admin without a role on it got %v, want no names", d)
		}
		if d := got(w.owner); !named(d, true) {
			t.Errorf("the board's admin got %v, want the names", d)
		}
	})
}

func TestFilteringDeliveriesByKindAndTime(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop()
		w := newWorld(s)
		var ids, at []string
		for range 3 {
			ids = append(ids, w.newFailedDelivery())
			at = append(at, s.Clock.Now().UTC().Format(time.RFC3339Nano))
			s.Clock.Advance(time.Minute)
		}
		for name, c := range map[string]struct {
			in   fields
			want []string // newest first
		}{
			"since is inclusive": {fields{"since": at[1]}, []string{ids[2], ids[1]}},
			"until is exclusive": {fields{"until": at[1]}, ids[:1]},
			"both":               {fields{"since": at[1], "until": at[2], "status": "failed"}, ids[1:2]},
			"a kind":             {fields{"type": "webhook.test", "until": at[1]}, ids[:1]},
			"another kind":       {fields{"type": "card.created"}, nil},
			"the future":         {fields{"since": s.Clock.Now().UTC().Format(time.RFC3339Nano)}, nil},
		} {
			in := with(c.in, "webhookId", w.hook)
			if got := w.owner.All("list_deliveries", "id", in); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
			}
		}
		for name, in := range map[string]fields{
			"type": {"type": "card.eaten"}, "since": {"since": at[1], "until": at[1]},
		} {
			for _, operation := range []string{"list_deliveries", "redeliver_many"} {
				a := w.owner.Refused(board.CodeInvalidRequest, operation, with(in, "webhookId", w.hook))
				if !strings.HasPrefix(a.Message, name+" ") {
					t.Errorf("%s with %v: got %s, want an error about %s", operation, in, a.Message, name)
				}
			}
		}
		// All since a time, all of a kind, and a named one that the filter excludes.
		for _, c := range []struct {
			in   fields
			want []string
		}{
			{fields{"type": "card.created"}, nil},
			{fields{"since": at[1], "deliveryIds": ids[:1]}, nil},
			{fields{"status": "failed", "since": at[1]}, []string{ids[2], ids[1]}},
			{fields{"type": "webhook.test"}, ids[:1]},
		} {
			if a := w.owner.Must("redeliver_many", with(c.in, "webhookId", w.hook)); !slices.Equal(texts(a.Get("deliveryIds")), c.want) {
				t.Errorf("redelivering %v: got %s, want %v", c.in, a.Raw, c.want)
			}
		}
	})
}
