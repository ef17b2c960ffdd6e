package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestBuiltInTemplates(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		s.Listen(workspace)
		all := board.BuiltInTemplates()
		ids := ada.All("list_board_templates", "id", nil)
		if len(all) < 8 || len(ids) != len(all) || !slices.IsSorted(ids) ||
			len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Errorf("got built-in templates %v, want at least 8 with distinct, ascending IDs", ids)
		}
		for i, b := range all {
			if b.ID != ids[i] || len(b.ID) != 30 || b.Description == "" || len(b.Content.Labels) < 4 ||
				len(b.Content.Lists) < 4 {
				t.Errorf("template %s (%s) has no description, too few lists or labels, or an invalid ID", b.Name, b.ID)
			}
			checklists, cards := 0, 0
			for _, l := range b.Content.Lists {
				for _, c := range l.Cards {
					cards++
					checklists += len(c.Checklists)
					if c.Title == "" || utf8.RuneCountInString(c.Title) > 512 || strings.TrimSpace(c.Title) != c.Title {
						t.Errorf("%s: title %q is empty, is too long or has surrounding spaces", b.Name, c.Title)
					}
				}
			}
			if checklists < 1 || cards < 5 {
				t.Errorf("%s: got %d cards with %d checklists, want at least 5 and 1", b.Name, cards, checklists)
			}
			a := ada.Must("create_board_from_template", fields{"templateId": b.ID, "workspaceId": workspace})
			if a.Text("name") != b.Name || a.Text("visibility") != "workspace" || a.Text("role") != "admin" ||
				a.Get("openCards") != float64(cards) ||
				len(a.Get("lists").([]any)) != len(b.Content.Lists) || len(a.Get("labels").([]any)) != len(b.Content.Labels) ||
				float64(a.Version) != a.Get("version") {
				t.Errorf("board from %s: got %s, want the content of the template", b.Name, a.Raw)
			}
			if sent := s.Outbox(a.ID()); len(sent) != 0 {
				t.Errorf("board from %s: got events %v, want none", b.Name, sent)
			}
			// A template saved from this board has the same content as the built-in template.
			saved := ada.Must("save_board_as_template", fields{"boardId": a.ID(), "includeCards": true})
			got := fmt.Sprint(saved.Get("lists"), saved.Get("features"), saved.Get("cards"), saved.Get("description"))
			builtIn := ada.Must("list_board_templates", fields{"limit": 200}).Get(fmt.Sprint(i)).(map[string]any)
			want := fmt.Sprint(builtIn["lists"], builtIn["features"], builtIn["cards"], builtIn["description"])
			if got != want {
				t.Errorf("template saved from the board of %s: got\n%s\nwant\n%s", b.Name, got, want)
			}
		}
		s.CheckConsistency()
	})
}

func TestSaveBoardAsTemplate(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		p.ada.Must("update_list", fields{"listId": p.here, "wipLimit": 4})
		p.ada.Must("update_board", fields{"boardId": p.from, "features": fields{"statusUpdates": false}})
		v := p.version(p.from)
		a := p.ada.Must("save_board_as_template",
			fields{"boardId": p.from, "name": " A launch ", "description": "For launches", "includeCards": true})
		if a.Text("name") != "A launch" || a.Text("description") != "For launches" || a.Get("builtIn") != false ||
			a.Text("workspaceId") != p.workspace || a.Get("cards") != 1.0 ||
			a.Text("lists.0.name") != "Here" || a.Get("lists.0.wipLimit") != 4.0 || a.Text("labels.0.name") != "Bug" ||
			p.version(p.from) != v {
			t.Errorf("got template %s, want the settings and the card of the board", a.Raw)
		}
		for _, content := range s.Column("SELECT content FROM board_templates") {
			if strings.Contains(content, "usr_") || strings.Contains(content, "2026-") ||
				!strings.Contains(content, `"version":1`) {
				t.Errorf("got stored template %s, want version 1 without people and dates", content)
			}
		}
		bare := p.ada.Must("save_board_as_template", fields{"boardId": p.from})
		if bare.Text("name") != "From" || bare.Get("cards") != 0.0 {
			t.Errorf("template without cards: got %s, want the name From and no cards", bare.Raw)
		}
		ids := p.ada.All("list_board_templates", "id", fields{"workspaceId": p.workspace, "limit": 3})
		if n := len(board.BuiltInTemplates()); len(ids) != n+2 || !slices.Equal(ids[n:], []string{a.ID(), bare.ID()}) {
			t.Errorf("got templates %v, want the built-in ones and then %v", ids, []string{a.ID(), bare.ID()})
		}

		b := p.ada.Must("create_board_from_template",
			fields{"templateId": a.ID(), "workspaceId": p.workspace, "name": "Launch", "visibility": "confidential"})
		if b.Text("name") != "Launch" || b.Text("description") != "For launches" || b.Text("visibility") != "confidential" ||
			b.Get("features.statusUpdates") != false || b.Get("lists.0.wipLimit") != 4.0 {
			t.Errorf("got board %s, want the settings of the template", b.Raw)
		}
		c := p.ada.Must("get_card",
			fields{"cardId": p.ada.All("list_cards", "id", fields{"boardId": b.ID(), "q": "zebras okapi"})[0]})
		if c.Text("title") != "Press release" || len(c.Get("labels").([]any)) != 2 || len(c.Get("assignees").([]any)) != 0 ||
			c.Get("dueDate") != nil || c.Get("done") != false ||
			c.Get("checklistItems.total") != 2.0 || c.Get("checklistItems.done") != 0.0 ||
			c.Text("checklists.0.items.1.title") != "Print" || c.Text("createdBy") != p.ada.ID {
			t.Errorf("got card %s, want the text, labels and checklist without people, dates and progress", c.Raw)
		}

		elsewhere := p.ada.Workspace("Elsewhere", board.PlanTeam)
		p.ada.Refused("not_found", "create_board_from_template", fields{"templateId": a.ID(), "workspaceId": elsewhere})
		if got := p.ada.All("list_board_templates", "id", fields{"workspaceId": elsewhere}); slices.Contains(got, a.ID()) {
			t.Error("the template is listed in another workspace")
		}
		p.bob.Refused("forbidden", "save_board_as_template", fields{"boardId": p.from}) // a guest
		p.ada.Must("update_board", fields{"boardId": p.from, "visibility": "confidential"})
		p.ada.Refused("forbidden", "save_board_as_template", fields{"boardId": p.from})
		s.CheckConsistency()
	})
}

func TestTemplatePreviewAndDeletion(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		id := w.newTemplate()
		p := w.other.Must("get_board_template", fields{"templateId": id})
		if p.Text("name") != "Launch" || p.Get("cards") != 2.0 || p.Text("first.0.0.title") != "Press release" ||
			p.Get("first.0.0.items") != 2.0 || p.Get("first.0.2") != nil {
			t.Errorf("got preview %s, want the name, two cards and the first card", p.Raw)
		}
		builtIn := board.BuiltInTemplates()[0]
		p = s.Person("Eve").Must("get_board_template", fields{"templateId": builtIn.ID})
		if p.Text("name") != builtIn.Name || p.Text("first.0.0.title") != builtIn.Content.Lists[0].Cards[0].Title {
			t.Errorf("preview of a built-in template: got %s, want its name and its first card", p.Raw)
		}
		if a := w.owner.Refused(board.CodeInvalidRequest, "delete_board_template",
			fields{"templateId": builtIn.ID}); !strings.Contains(a.Message, "a built-in template") {
			t.Errorf("delete_board_template of a built-in template: got %s, want a message that says so", a.Raw)
		}
		w.other.Refused(board.CodeForbidden, "delete_board_template", fields{"templateId": id})
		made := w.other.Must("create_board_from_template", fields{"templateId": id, "workspaceId": w.workspace}).ID()
		w.owner.Must("delete_board_template", fields{"templateId": id})
		w.owner.Refused(board.CodeNotFound, "delete_board_template", fields{"templateId": id})
		w.owner.Refused(board.CodeNotFound, "get_board_template", fields{"templateId": id})
		if slices.Contains(w.owner.All("list_board_templates", "id", fields{"workspaceId": w.workspace}), id) {
			t.Error("the template is still in the list")
		}
		w.other.Must("get_board", fields{"boardId": made})
		log := w.owner.Must("list_audit_entries", fields{"workspaceId": w.workspace, "operation": "delete_board_template"})
		if log.Text("0.subject") != id {
			t.Errorf("got audit entries %s, want one about the template", log.Raw)
		}
	})
}
