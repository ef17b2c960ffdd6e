package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Deleting a label records a change for each open card that had it, with its own version,
// activity entry and delivery.
func TestDeletingLabelChangesItsCards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		away := p.make("create_list", fields{"boardId": p.from, "name": "Away"})
		second := p.make("create_card", fields{"listId": p.here, "title": "Second", "labels": []string{p.bug}})
		p.make("create_card", fields{"listId": p.here, "title": "Without"})
		old := p.make("create_card", fields{"listId": p.here, "title": "Old", "labels": []string{p.bug}})
		p.ada.Must("archive_card", fields{"cardId": old})
		p.make("create_card", fields{"listId": away, "title": "In an archived list", "labels": []string{p.bug}})
		p.ada.Must("archive_list", fields{"listId": away})
		v, sent := p.version(p.from), len(s.Outbox(p.from))

		a := p.ada.Must("delete_label", fields{"labelId": p.bug})
		if a.Version != v+3 || p.version(p.from) != v+3 {
			t.Errorf("the version is %d, want %d", a.Version, v+3)
		}
		event := func(card string) string {
			return fmt.Sprintf(`card.labels_changed {"cardId":"%s","listId":"%s","added":[],"removed":["%s"]}`, card,
				p.here, p.bug)
		}
		got := strings.Join(s.Outbox(p.from)[sent:], "\n")
		if want := event(p.card) + "\n" + event(second); got != want {
			t.Errorf("deleting the label sent\n%s\nwant\n%s", got, want)
		}
		changes := p.ada.Must("list_board_changes", fields{"boardId": p.from, "since": v})
		if got := fmt.Sprint(changes.Each("type"), changes.Each("cardId")); got != fmt.Sprintf("[card.labels_changed "+
			"card.labels_changed label.deleted] [%s %s <nil>]", p.card, second) {
			t.Errorf("the changes are %s, want card.labels_changed for %s and %s, and label.deleted", got, p.card, second)
		}
		if from, to := fmt.Sprint(changes.Get("0.changes.labels.from")),
			fmt.Sprint(changes.Get("0.changes.labels.to")); from != fmt.Sprint([]string{p.bug, p.idea}) || to != fmt.Sprint([]string{p.idea}) {
			t.Errorf("the change has the labels from %s to %s, want %v to %v", from, to, []string{p.bug, p.idea}, []string{p.idea})
		}
		if c := p.ada.Must("get_card", fields{"cardId": p.card}); fmt.Sprint(c.Get("labels.0.id"),
			c.Get("labels.1")) != p.idea+"<nil>" || c.Text("updatedAt") != changes.Text("0.at") {
			t.Errorf("the card is %s, want only the label %s, and the time of the change in updatedAt", c.Raw, p.idea)
		}
		if c := p.ada.Must("get_card", fields{"cardId": old}); c.Get("labels.0") != nil {
			t.Errorf("the archived card still has the label: %s", c.Raw)
		}
		s.CheckConsistency()
	})
}

// A label is removed from many cards in batches, each with its own entry in the audit log. A
// repeated request gets the same response.
func TestLabelIsRemovedFromManyCardsInBatches(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b := ada.Must("create_board", fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"})
		in := fields{"boardId": b.ID()}
		list := ada.Must("create_list", with(in, "name", "To do")).ID()
		label := ada.Must("create_label", fields{"boardId": b.ID(), "name": "Bug", "color": "red"}).ID()
		const many = 450
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.List(ctx, list, board.Edit); err != nil {
				return err
			}
			ranks, err := board.RanksAfter("", many)
			if err != nil {
				return err
			}
			cards, none := make([]store.WholeCard, many), ""
			for i := range cards {
				c := &cards[i]
				c.ID, c.BoardID, c.ListID, c.Title, c.Description, c.Rank = tx.NewID("crd_"), b.ID(), list, "Card", &none, ranks[i]
				c.Labels = []board.LabelRef{{ID: label, Name: "Bug", Color: "red"}}
			}
			if err := tx.InsertCards(ctx, b.ID(), cards); err != nil {
				return err
			}
			for _, c := range cards {
				tx.Emit(b.ID(), board.CardCopied(c.CardDetail, ""))
			}
			return nil
		})
		before := int64(ada.Must("get_board", in).Get("version").(float64))
		first := ada.Keyed("once", "delete_label", fields{"labelId": label})
		if first.Status != 200 || first.Version != before+many+1 {
			t.Fatalf("delete_label: got status %d, body %s, version %d; want 200 and version %d", first.Status, first.Raw, first.Version,
				before+many+1)
		}
		if again := ada.Keyed("once", "delete_label", fields{"labelId": label}); string(again.Raw) != string(first.Raw) {
			t.Errorf("the replay is %s, want %s", again.Raw, first.Raw)
		}
		entries := s.Column("SELECT details FROM audit WHERE operation = 'delete_label' ORDER BY id")
		if got := strings.Join(entries, " "); len(entries) != 5 || strings.Count(got, `"events":100`) != 4 ||
			!strings.Contains(got, `"events":51`) {
			t.Errorf("the audit log has %s, want four entries with 100 events and one with 51", got)
		}
		if got := s.Column("SELECT card_id FROM card_labels"); len(got) > 0 {
			t.Errorf("%d cards still have the label, want 0", len(got))
		}
		s.CheckConsistency()
	})
}
