package app_test

import (
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestWebhookFiltersByListAndLabel(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		list := func(b, name string) string { return w.make("create_list", fields{"boardId": b, "name": name}) }
		another := w.newBoard()
		todo, done, foreign := list(w.board, "Filter"), list(w.board, "Beside"), list(another, "Elsewhere")
		red := w.make("create_label", fields{"boardId": w.board, "name": "Scarlet", "color": "red"})
		hook := fields{"url": receiver, "boardId": w.board, "events": []string{"card.created", "card.moved", "card.completed",
			"card.labels_changed", "list.archived", "status.posted"}}
		byList := w.make("create_webhook", with(hook, "lists", []string{todo, todo}))
		byLabel := w.make("create_webhook", with(hook, "labels", []string{red}))
		all := w.make("create_webhook", hook)
		// sent returns the kinds of the deliveries since the last call, oldest first.
		seen := map[string]int{}
		sent := func(hook string) []string {
			kinds := w.owner.All("list_deliveries", "type", fields{"webhookId": hook})
			slices.Reverse(kinds)
			news := kinds[seen[hook]:]
			seen[hook] = len(kinds)
			return news
		}
		check := func(step string, lists, labels, everything string) {
			t.Helper()
			for _, c := range []struct{ name, hook, want string }{
				{"lists", byList, lists}, {"labels", byLabel, labels}, {"no filter", all, everything},
			} {
				if got := strings.Join(sent(c.hook), " "); got != c.want {
					t.Errorf("%s: the webhook with %s sent %q, want %q", step, c.name, got, c.want)
				}
			}
		}
		card := w.make("create_card", fields{"listId": todo, "title": "a"})
		check("create in the list", "card.created", "", "card.created")
		w.make("create_card", fields{"listId": done, "title": "b"})
		check("create beside it", "", "", "card.created")
		w.owner.Must("set_card_labels", fields{"cardId": card, "add": []string{red}})
		check("add the label", "card.labels_changed", "card.labels_changed", "card.labels_changed")
		w.owner.Must("move_card", fields{"cardId": card, "listId": done, "position": "top"})
		check("leave the list", "card.moved", "card.moved", "card.moved")
		w.owner.Must("update_card", fields{"cardId": card, "done": true})
		check("outside the list", "", "card.completed", "card.completed")
		w.owner.Must("move_card_to_board", fields{"cardId": card, "listId": foreign, "position": "top"})
		check("leave the board", "", "card.moved", "card.moved")
		w.owner.Must("move_card_to_board", fields{"cardId": card, "listId": todo, "position": "top"})
		check("come back without labels", "card.moved", "", "card.moved")
		w.owner.Must("post_status_update", fields{"boardId": w.board, "status": "on_track", "title": "x"})
		check("a status update", "", "", "status.posted")
		// What is deleted matches nothing. The webhook does not start to send everything.
		w.owner.Must("delete_label", fields{"labelId": red})
		w.owner.Must("move_list_to_board", fields{"listId": todo, "boardId": another, "position": "top"})
		sent(byList)
		sent(byLabel)
		sent(all)
		w.make("create_card", fields{"listId": done, "title": "c"})
		check("the list moved away, and the label is deleted", "", "", "card.created")
		if a := w.owner.Must("get_webhook", fields{"webhookId": byList}); !slices.Equal(texts(a.Get("lists")), []string{todo}) {
			t.Errorf("the filter is %s, want the list to stay", a.Raw)
		}
		// An update without filters keeps them; an empty list removes them.
		w.owner.Must("update_webhook", fields{"webhookId": byList, "name": "Renamed"})
		w.owner.Must("update_webhook", fields{"webhookId": byLabel, "labels": []string{red}})
		if a := w.owner.Must("update_webhook", fields{"webhookId": byList, "lists": []string{todo, done}}); len(texts(a.Get("lists"))) != 2 {
			t.Errorf("an update that repeats the list: got %s, want both lists", a.Raw)
		}
		w.owner.Must("update_webhook", fields{"webhookId": byList, "lists": []string{todo}})
		a := w.owner.Must("update_webhook", fields{"webhookId": byLabel, "labels": []string{}, "lists": []string{done}})
		if len(texts(a.Get("labels"))) != 0 || !slices.Equal(texts(a.Get("lists")), []string{done}) {
			t.Errorf("after an update the webhook is %s, want only the list", a.Raw)
		}
		w.make("create_card", fields{"listId": done, "title": "d"})
		check("after the updates", "", "card.created", "card.created")
		w.owner.Must("archive_list", fields{"listId": done})
		check("archive the list", "", "list.archived", "list.archived")
		w.owner.Must("test_webhook", fields{"webhookId": byList})
		check("a test", "webhook.test", "", "")
		for name, in := range map[string]fields{
			"lists: ":  with(hook, "lists", []string{foreign}),
			"labels: ": with(hook, "labels", []string{red}),
			"labels":   with(with(w.newWebhook(), "lists", []string{}), "labels", []string{"lbl_x"}),
			"lists":    with(w.newWebhook(), "lists", []string{done}),
		} {
			if a := w.owner.Refused(board.CodeInvalidRequest, "create_webhook", in); !strings.HasPrefix(a.Message, name) {
				t.Errorf("%v: got %s, want an error about %s", in, a.Message, name)
			}
		}
	})
}
