package app_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

func TestCopyCard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		first := p.ada.Must("get_card", fields{"cardId": p.card})
		v, sent := p.version(p.from), len(s.Outbox(p.from))
		a := p.bob.Must("copy_card", fields{"cardId": p.card, "position": "top"})
		c := p.ada.Must("get_card", fields{"cardId": a.ID()})
		if a.Version != v+1 || a.ID() == p.card || c.Text("listId") != p.here || c.Get("number") != 2.0 ||
			c.Get("done") != false || c.Text("createdBy") != p.bob.ID || c.Get("comments") != 0.0 {
			t.Errorf("got copy %s with version %d, want version %d and a card with a new ID and number 2 in the same list, "+
				"not done, without comments and created by Bob", c.Raw, a.Version, v+1)
		}
		for _, field := range []string{"title", "description", "labels", "assignees", "dueDate", "dueAt", "startDate",
			"timeZone", "checklists.0.title", "checklists.0.items.0.title", "checklists.0.items.1.title"} {
			if got, want := fmt.Sprint(c.Get(field)), fmt.Sprint(first.Get(field)); got != want {
				t.Errorf("%s: got %s, want %s", field, got, want)
			}
		}
		if c.Get("checklists.0.items.0.done") != false || c.Get("checklistItems.done") != 0.0 ||
			c.Get("checklistItems.total") != 2.0 || c.Text("checklists.0.id") == first.Text("checklists.0.id") {
			t.Errorf("got checklists %s, want new ones with no item done", c.Raw)
		}
		if got := p.ada.All("list_cards", "id", fields{"boardId": p.from}); !slices.Equal(got, []string{a.ID(), p.card}) {
			t.Errorf("got cards %v, want %v", got, []string{a.ID(), p.card})
		}
		if got, want := s.Outbox(p.from)[sent:], []string{fmt.Sprintf(`card.created {"cardId":"%s","listId":"%s"}`, a.ID(),
			p.here)}; !slices.Equal(got, want) {
			t.Errorf("got events %v, want %v", got, want)
		}
		if p.last(p.from)["changes"].(map[string]any)["checklists"] == nil {
			t.Errorf("got change %v, want it to include the checklists", p.last(p.from))
		}
		if again := p.ada.Must("get_card", fields{"cardId": p.card}); string(again.Raw) != string(first.Raw) {
			t.Errorf("got original %s, want it unchanged: %s", again.Raw, first.Raw)
		}
		bare := p.ada.Must("copy_card", fields{"cardId": p.card, "title": " Another ", "includeLabels": false,
			"includeAssignees": false, "includeDue": false, "includeChecklists": false, "includeComments": true})
		if bare.Text("title") != "Another" || fmt.Sprint(bare.Get("labels"), bare.Get("assignees"), bare.Get("dueDate"),
			bare.Get("startAt"), bare.Get("checklistItems.total"), bare.Get("comments")) != "[] [] <nil> <nil> 0 1" {
			t.Errorf("got copy %s, want the title Another, one comment, and no labels, assignees, dates or checklists", bare.Raw)
		}
		copied := p.ada.Must("list_comments", fields{"cardId": bare.ID()})
		if copied.Text("0.text") != "A quagga says hello." || copied.Text("0.author.id") != p.bob.ID {
			t.Errorf("got comments %s, want the comment of the original", copied.Raw)
		}
		for word, want := range map[string][]string{"okapi": {a.ID(), p.card}, "quagga": {p.card, bare.ID()},
			"zebras": {a.ID(), p.card, bare.ID()}} {
			if got := p.ada.All("list_cards", "id", fields{"boardId": p.from, "q": word}); !slices.Equal(got, want) {
				t.Errorf("search for %s: got %v, want %v", word, got, want)
			}
		}
		s.CheckConsistency()
	})
}

func TestCopyCardToAnotherBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		p.ada.Must("share_board", fields{"boardId": p.from, "userId": p.bob.ID, "role": "viewer"})
		v, w, sent := p.version(p.from), p.version(p.to), len(s.Outbox(p.to))
		p.Refused(t, "forbidden", p.bob, "copy_card", fields{"cardId": p.card})
		a := p.bob.Must("copy_card", fields{"cardId": p.card, "listId": p.there, "position": "top"})
		if a.Text("boardId") != p.to || a.Get("number") != 3.0 || a.Version != w+1 || p.version(p.from) != v ||
			a.Text("labels.0.id") != p.bugThere || a.Get("labels.1") != nil ||
			a.Text("assignees.0.id") != p.ada.ID || a.Text("assignees.1.id") != p.bob.ID || a.Get("assignees.2") != nil {
			t.Errorf("got copy %s with version %d, want version %d and card 3 of the other board, with that board's labels and members",
				a.Raw, a.Version, w+1)
		}
		if got := s.Outbox(p.to); len(got) != sent {
			t.Errorf("got events %v, want none", got[sent:])
		}
		if last := p.last(p.to); last["type"] != "card.created" || last["cardId"] != a.ID() {
			t.Errorf("got activity entry %v, want card.created for the copy", last)
		}
		p.Refused(t, "not_found", p.cyd, "copy_card", fields{"cardId": p.card, "listId": p.there})
		p.ada.Must("archive_board", fields{"boardId": p.from})
		p.bob.Must("copy_card", fields{"cardId": p.card, "listId": p.there}) // cards on an archived board can be read
		s.CheckConsistency()
	})
}

func TestCopyList(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		p.make("create_card", fields{"listId": p.here, "title": "Second", "position": "top"})
		p.ada.Must("archive_card", fields{"cardId": p.make("create_card", fields{"listId": p.here, "title": "Archived"})})
		end := p.make("create_list", fields{"boardId": p.from, "name": "End"})
		p.ada.Must("update_list", fields{"listId": p.here, "wipLimit": 1, "wipMode": "hard"})
		v, sent := p.version(p.from), len(s.Outbox(p.from))
		a := p.ada.Must("copy_list", fields{"listId": p.here})
		if a.Text("name") != "Here" || a.Get("openCards") != 2.0 || a.Get("wipLimit") != 1.0 || a.Text("wipMode") != "hard" ||
			a.Version != v+3 {
			t.Errorf("got copy %s with version %d, want version %d and the name, WIP limit and two open cards of the original",
				a.Raw, a.Version, v+3)
		}
		named := p.ada.Must("copy_list", fields{"listId": p.here, "name": "Named", "position": "bottom"})
		want := []string{p.here, a.ID(), end, named.ID()}
		if got := p.ada.All("list_lists", "id", fields{"boardId": p.from}); !slices.Equal(got, want) {
			t.Errorf("got lists %v, want %v", got, want)
		}
		if got := p.ada.All("list_cards", "title", fields{"boardId": p.from, "list": a.ID(),
			"archived": "true"}); !slices.Equal(got, []string{"Second", "Press release"}) {
			t.Errorf("copied cards: got %v, want %v", got, []string{"Second", "Press release"})
		}
		if done := p.ada.All("list_cards", "done", fields{"boardId": p.from, "list": a.ID()}); !slices.Equal(done,
			[]string{"false", "false"}) {
			t.Errorf("done flags of the copied cards: got %v, want %v", done, []string{"false", "false"})
		}
		kinds := ""
		for _, line := range s.Outbox(p.from)[sent:] {
			kinds += strings.Fields(line)[0] + " "
		}
		wantKinds := strings.Repeat("list.created card.created card.created ", 2)
		if kinds != wantKinds {
			t.Errorf("got events %q, want %q", kinds, wantKinds)
		}
		s.CheckConsistency()
	})
}

func TestCopyBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		p.ada.Must("update_board",
			fields{"boardId": p.from, "description": "What for", "features": fields{"publicPage": true, "calendar": false}})
		p.make("create_label", fields{"boardId": p.from, "name": "Bug", "color": "red"}) // same name and color as an existing label
		p.make("create_card", fields{"listId": p.here, "title": "On top", "position": "top"})
		p.ada.Must("archive_card", fields{"cardId": p.make("create_card", fields{"listId": p.here, "title": "Archived"})})
		doing := p.make("create_list", fields{"boardId": p.from, "name": "Doing", "wipLimit": 3, "wipMode": "hard"})
		p.make("create_card", fields{"listId": doing, "title": "Begun"})
		p.ada.Must("archive_list", fields{"listId": p.make("create_list", fields{"boardId": p.from, "name": "Old"})})
		v := p.version(p.from)

		empty := p.ada.Must("copy_board", fields{"boardId": p.from, "name": "Without"})
		if empty.Get("openCards") != 0.0 || len(empty.Get("lists").([]any)) != 2 || len(empty.Get("labels").([]any)) != 3 ||
			empty.Get("lists.1.wipLimit") != 3.0 || empty.Text("lists.1.wipMode") != "hard" {
			t.Errorf("got copy %s, want the lists and labels without cards", empty.Raw)
		}
		a := p.ada.Must("copy_board", fields{"boardId": p.from, "name": "With", "includeCards": true})
		if a.Text("name") != "With" || a.Text("description") != "What for" || a.Text("visibility") != "private" ||
			a.Get("features.publicPage") != false || a.Get("features.calendar") != false ||
			a.Text("role") != "admin" || a.Get("openCards") != 3.0 || float64(a.Version) != a.Get("version") ||
			a.Version != 1+3+2+3 {
			t.Errorf("got copy %s, want the settings, lists and cards of the original, without a public page", a.Raw)
		}
		if got := p.ada.All("list_board_members", "id", fields{"boardId": a.ID()}); !slices.Equal(got, []string{p.ada.ID}) {
			t.Errorf("members of the copy: got %v, want %v", got, []string{p.ada.ID})
		}
		titles := []string{"On top", "Press release", "Begun"}
		if got := p.ada.All("list_cards", "title",
			fields{"boardId": a.ID(), "archived": "true"}); !slices.Equal(got, titles) {
			t.Errorf("cards of the copy: got %v, want %v", got, titles)
		}
		c := p.ada.Must("get_card",
			fields{"cardId": p.ada.All("list_cards", "id", fields{"boardId": a.ID(), "q": "zebras okapi"})[0]})
		if c.Get("done") != true || c.Get("checklistItems.done") != 1.0 || c.Get("comments") != 0.0 ||
			c.Text("dueDate") != "2026-12-01" || len(c.Get("labels").([]any)) != 2 ||
			c.Text("assignees.0.id") != p.ada.ID || c.Get("assignees.1") != nil {
			t.Errorf("got copied card %s, want its checklist, labels and dates, one assignee and no comments", c.Raw)
		}
		if got := append(s.Outbox(a.ID()), s.Outbox(empty.ID())...); len(got) != 0 {
			t.Errorf("got events %v, want none", got)
		}
		if got := p.ada.All("list_board_activity", "type", fields{"boardId": a.ID()}); len(got) != 9 ||
			got[8] != "board.created" {
			t.Errorf("got activity %v, want nine entries that end with board.created", got)
		}
		if got := p.version(p.from); got != v {
			t.Errorf("version of the original: got %d, want %d", got, v)
		}
		p.ada.Must("update_board", fields{"boardId": p.from, "visibility": "confidential"})
		elsewhere := p.ada.Workspace("Elsewhere", board.PlanTeam)
		other := p.ada.Must("copy_board",
			fields{"boardId": p.from, "name": "Elsewhere", "workspaceId": elsewhere, "includeCards": true})
		if other.Text("visibility") != "confidential" || other.Text("workspaceId") != elsewhere {
			t.Errorf("got copy %s, want a confidential board in workspace %s", other.Raw, elsewhere)
		}
		p.ada.Must("archive_board", fields{"boardId": p.from})
		p.ada.Must("copy_board", fields{"boardId": p.from, "name": "From the archive"})
		p.Refused(t, "forbidden", p.bob, "copy_board", fields{"boardId": p.from, "name": "A guest's"})
		s.CheckConsistency()
	})
}

func TestCopiesRespectTheLimits(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenCards, limits.OpenLists = 4, 2
	apptest.BothWith(t, apptest.Options{Limits: limits}, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		for range 2 {
			p.make("create_card", fields{"listId": p.here, "title": "More"})
		}
		p.Refused(t, "limit_reached", p.ada, "copy_list", fields{"listId": p.here}) // the board would have six cards
		p.make("create_list", fields{"boardId": p.from, "name": "Second"})
		p.Refused(t, "limit_reached", p.ada, "copy_list",
			fields{"listId": p.make("create_list", fields{"boardId": p.to, "name": "Second there"})})
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			readOnly := true
			w, err := tx.Workspace(ctx, p.workspace, board.ViewWorkspace)
			if err != nil {
				return err
			}
			return tx.UpdateOrganization(ctx, w.OrganizationID, nil, &readOnly)
		})
		for name, in := range map[string]fields{
			"copy_card": {"cardId": p.card}, "copy_list": {"listId": p.here}, "copy_board": {"boardId": p.from, "name": "x"},
			"move_card_to_board":         {"cardId": p.card, "listId": p.there},
			"move_list_to_board":         {"listId": p.here, "boardId": p.to},
			"save_board_as_template":     {"boardId": p.from},
			"create_board_from_template": {"templateId": board.BuiltInTemplates()[0].ID, "workspaceId": p.workspace},
		} {
			p.Refused(t, "plan_read_only", p.ada, name, in)
		}
		elsewhere := p.ada.Workspace("Elsewhere", board.PlanTeam)
		p.ada.Must("copy_board",
			fields{"boardId": p.from, "name": "Elsewhere", "workspaceId": elsewhere, "includeCards": true})
		s.CheckConsistency()
	})
}

// BenchmarkCopyBoard copies a board with 5,000 cards. Each card has a description and a label, and
// every fifth card has a checklist.
func BenchmarkCopyBoard(b *testing.B) {
	for _, driver := range []string{"sqlite", "postgres"} {
		b.Run(driver, func(b *testing.B) {
			database := filepath.Join(b.TempDir(), "cardwall.db")
			if driver == "postgres" {
				database = apptest.PostgresURL(b)
			}
			s := apptest.New(b, database, apptest.Options{})
			ada := s.Person("Ada")
			source := ada.Must("create_board",
				fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Large"}).ID()
			label := ada.Must("create_label", fields{"boardId": source, "name": "Bug", "color": "red"}).ID()
			for range 10 {
				list := ada.Must("create_list", fields{"boardId": source, "name": "List"}).ID()
				for i := range 500 {
					id := ada.Must("create_card",
						fields{"listId": list, "title": fmt.Sprint("Write the press release ", i), "labels": []string{label},
							"description": "Two paragraphs, one picture and the names of everyone who helped. " +
								"The printer needs it by Friday."}).ID()
					if i%5 == 0 {
						ada.Must("add_checklist", fields{"cardId": id, "title": "Before", "items": []string{"Check the names", "Print"}})
					}
				}
			}
			for b.Loop() {
				if a := ada.Must("copy_board",
					fields{"boardId": source, "name": "Copy", "includeCards": true}); a.Get("openCards") != 5000.0 {
					b.Fatalf("got %v open cards, want 5000", a.Get("openCards"))
				}
			}
		})
	}
}
