package transfer_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// TestExportImportExport creates boards with random operations. It imports their exports into the
// same database and into the other one, and compares the exports of the imported boards. This takes more than ten
// seconds, because it repeats that with many boards on both databases.
func TestExportImportExport(t *testing.T) {
	t.Parallel()
	type side struct {
		*apptest.Service
		people    []*apptest.Person
		workspace string
	}
	sides := map[string]*side{}
	for name, database := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "cardwall.db"), "postgres": apptest.PostgresURL(t)} {
		s := &side{Service: apptest.New(t, database, apptest.Options{})}
		s.people = []*apptest.Person{s.Person("Ada"), s.Person("Bob"), s.Person("Guest")}
		s.workspace = s.people[0].Workspace("Engines", board.PlanBusiness)
		s.people[1].Joins(s.workspace, board.WorkspaceMember)
		s.people[2].Joins(s.workspace, board.WorkspaceGuest)
		sides[name] = s
	}
	for name, from := range sides {
		rapid.Check(t, func(rt *rapid.T) {
			for _, s := range sides { // the number of filters per person is limited
				withoutFilters(s.people, s.workspace)
			}
			id := randomBoard(rt, from.people, from.workspace)
			for other, to := range sides {
				imported := roundTrip(rt, from.Service, to.Service, board.Person(to.people[0].ID), to.workspace, id)
				in, copied := from.people[0].Must("get_board", apptest.Fields{"boardId": id}), to.people[0].Must("get_board",
					apptest.Fields{"boardId": imported})
				for _, field := range []string{"version", "openCards", "limits.openCards.count", "limits.allCards.count",
					"limits.openLists.count", "limits.labels.count", "archivedAt"} {
					if in.Get(field) != copied.Get(field) {
						rt.Fatalf("from %s to %s: got %s %v, want %v", name, other, field, copied.Get(field), in.Get(field))
					}
				}
				titles := func(p *apptest.Person, id string) []string {
					return p.All("list_cards", "title", apptest.Fields{"boardId": id, "archived": "true"})
				}
				if a, b := titles(from.people[0], id), titles(to.people[0], imported); !slices.Equal(a, b) {
					rt.Fatalf("from %s to %s: got the cards %q, want %q", name, other, b, a)
				}
				statusUpdates := func(p *apptest.Person, id string) []byte {
					return p.Must("list_status_updates", apptest.Fields{"boardId": id, "limit": 200}).Raw
				}
				mustEqual(rt, "status updates from "+name+" to "+other, statusUpdates(from.people[0], id), statusUpdates(to.people[0], imported))
				if in.Get("archivedAt") == nil { // the copy accepts changes and does not reuse versions
					list := to.people[0].Must("create_list", apptest.Fields{"boardId": imported, "name": "Next"})
					if list.Version != int64(in.Get("version").(float64))+1 {
						rt.Fatalf("got the next version %d, want %v", list.Version, in.Get("version").(float64)+1)
					}
					to.people[0].Must("create_card", apptest.Fields{"listId": list.ID(), "title": "Next", "position": "top"})
				}
			}
		})
	}
}

// The document contains why a card is archived, as the API does. After an import, restoring the
// list restores the first card only.
func TestExportSaysWhyCardsAreArchived(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
		list := apptest.Fields{"listId": ada.Must("create_list", apptest.Fields{"boardId": id, "name": "Old"}).ID()}
		for _, title := range []string{"By its list", "By itself"} {
			ada.Must("create_card", apptest.Fields{"listId": list["listId"], "title": title})
		}
		cards := func(boardID, archived string) []string {
			return ada.All("list_cards", "id", apptest.Fields{"boardId": boardID, "archived": archived, "sort": "title"})
		}
		ids := cards(id, "false")
		ada.Must("archive_card", apptest.Fields{"cardId": ids[1]})
		ada.Must("archive_list", list)
		var doc struct {
			Cards []struct {
				ArchivedAt string
				ArchivedBy string
			}
		}
		text := export(t, s, board.Person(ada.ID), id)
		if err := json.Unmarshal(text, &doc, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		for i, by := range []string{"list", "card"} {
			if want := ada.Must("get_card", apptest.Fields{"cardId": ids[i]}); doc.Cards[i].ArchivedBy != by ||
				doc.Cards[i].ArchivedAt != want.Text("archivedAt") {
				t.Errorf("the document has %+v, want archivedBy %s and the time of %s", doc.Cards[i], by, want.Raw)
			}
		}
		copied := roundTrip(t, s, s, board.Person(ada.ID), workspace, id)
		ada.Must("restore_list", apptest.Fields{"listId": ada.Must("list_lists",
			apptest.Fields{"boardId": copied, "includeArchived": true}).Text("0.id")})
		if open := cards(copied, "false"); len(open) != 1 {
			t.Errorf("got %d open cards after the list was restored, want 1", len(open))
		}
	})
}

func withoutFilters(people []*apptest.Person, workspace string) {
	for _, p := range people {
		for _, id := range p.All("list_saved_filters", "id", apptest.Fields{"workspaceId": workspace}) {
			p.Call("delete_saved_filter", apptest.Fields{"filterId": id})
		}
	}
}

// contents holds the ids of the objects created on a random board, by kind.
type contents map[string][]string

func (s contents) pick(rt *rapid.T, kind string) string {
	if len(s[kind]) == 0 {
		return "none"
	}
	return rapid.SampledFrom(s[kind]).Draw(rt, kind)
}

func randomBoard(rt *rapid.T, people []*apptest.Person, workspace string) string {
	ada := people[0]
	texts := rapid.SampledFrom([]string{"plain", "ümläut ✓", "a \"quote\" \\ </script>", "  spaced  ",
		"crd_01jb2m3n4p5q6r7s8t9v0w1x2y", ada.ID, "🏗️ emoji", "null"})
	text := func() string { return texts.Draw(rt, "text") }
	visibility := rapid.SampledFrom([]string{"workspace", "private", "confidential"}).Draw(rt, "visibility")
	id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": text(), "description": text(),
		"visibility": visibility}).ID()
	s := contents{"user": {}}
	for _, p := range people {
		s["user"] = append(s["user"], p.ID)
	}
	record := func(kind string, a apptest.Response) {
		if a.Status/100 == 2 {
			s[kind] = append(s[kind], a.ID())
		}
	}
	anyPerson := func() *apptest.Person { return rapid.SampledFrom(people).Draw(rt, "who") }
	position := func(kind string) any {
		return rapid.SampledFrom([]any{"top", "bottom", map[string]string{"after": s.pick(rt, kind)}}).Draw(rt, "place")
	}
	due := func() apptest.Fields {
		f := apptest.Fields{"dueDate": rapid.SampledFrom([]string{"2026-03-29", "2026-10-25"}).Draw(rt, "day")}
		if rapid.Bool().Draw(rt, "timed") {
			f["dueTime"], f["timeZone"] = rapid.SampledFrom([]string{"02:30", "23:59"}).Draw(rt, "time"),
				rapid.SampledFrom([]string{"Europe/Berlin", "America/Lima"}).Draw(rt, "zone")
		}
		if rapid.Bool().Draw(rt, "start") {
			f["startDate"] = "2026-03-01"
		}
		return f
	}
	with := func(f apptest.Fields, more ...any) apptest.Fields {
		for pair := range slices.Chunk(more, 2) {
			f[pair[0].(string)] = pair[1]
		}
		return f
	}
	list := func() {
		record("list", ada.Call("create_list", apptest.Fields{"boardId": id, "name": text(), "position": position("list")}))
	}
	card := func() {
		record("card", ada.Call("create_card", apptest.Fields{"listId": s.pick(rt, "list"), "title": text(), "description": text(),
			"due": due(), "position": "top", "assignees": []string{ada.ID}}))
	}
	record("label", ada.Call("create_label", apptest.Fields{"boardId": id, "name": "", "color": "red"}))
	record("label", ada.Call("create_label", apptest.Fields{"boardId": id, "name": "", "color": "red"}))
	for _, name := range []string{"To do", "Doing", "Done"} {
		record("list", ada.Must("create_list", apptest.Fields{"boardId": id, "name": name}))
	}
	ada.Must("share_board", apptest.Fields{"boardId": id, "userId": people[2].ID, "role": "commenter"})
	for range 4 {
		card()
	}
	for _, p := range people {
		record("comment", p.Call("add_comment", apptest.Fields{"cardId": s.pick(rt, "card"), "text": text()}))
		record("attachment", p.Call("add_attachment", apptest.Fields{"cardId": s.pick(rt, "card"), "url": "https://example.com/brief",
			"name": text()}))
	}
	for range 2 {
		k := ada.Must("add_checklist", apptest.Fields{"cardId": s.pick(rt, "card"), "title": text(), "items": []string{"one", "two", "three"}})
		record("checklist", k)
		s["item"] = append(s["item"], k.Text("items.0.id"), k.Text("items.2.id"))
	}
	queries := func() string {
		texts := []string{"board:" + id, "is:open BOARD:" + strings.ToUpper(id) + ",one sort:-due",
			`-list:"` + s.pick(rt, "list") + `",none x ümläut`,
			"#" + s.pick(rt, "label") + ",#bug -@ME", "label:any title:" + id, "member:" + s.pick(rt, "user") + ",me board:" + id, `board:"see brd_01jb2m3n4p5q6r7s8t9v0w1x2y",` + id}
		return rapid.SampledFrom(texts).Draw(rt, "query")
	}
	filter := func() {
		record("filter", anyPerson().Call("create_saved_filter", apptest.Fields{"workspaceId": workspace, "name": text(), "query": queries(),
			"shared": rapid.IntRange(0, 3).Draw(rt, "private") > 0}))
	}
	postStatus := func() {
		in := apptest.Fields{"boardId": id, "status": rapid.SampledFrom([]string{"on_track", "off_track", "complete"}).Draw(rt,
			"status"), "title": text(), "text": text()}
		if rapid.Bool().Draw(rt, "dated") {
			in["startDate"], in["targetDate"] = "2026-03-01", "2026-03-29"
		}
		record("status", anyPerson().Call("post_status_update", in))
	}
	postStatus()
	filter()
	cardField := func() apptest.Fields { return apptest.Fields{"cardId": s.pick(rt, "card")} }
	listField := func() apptest.Fields { return apptest.Fields{"listId": s.pick(rt, "list")} }
	steps := []func(){
		list, card, card, card, postStatus, filter,
		func() {
			ada.Call("update_saved_filter", apptest.Fields{"filterId": s.pick(rt, "filter"), "query": queries()})
		},
		func() {
			record("label", ada.Call("create_label", apptest.Fields{"boardId": id, "name": text(), "color": "teal"}))
		},
		func() {
			ada.Call("move_card", with(cardField(), "listId", s.pick(rt, "list"), "position", position("card")))
		},
		func() {
			ada.Call("update_card", with(cardField(), "done", rapid.Bool().Draw(rt, "done"), "title", text()))
		},
		func() { ada.Call("archive_card", cardField()) },
		func() { ada.Call("restore_card", cardField()) },
		func() { ada.Call("move_list", with(listField(), "position", position("list"))) },
		func() { ada.Call("update_list", with(listField(), "wipLimit", 9, "wipMode", "hard")) },
		func() { ada.Call("archive_list", listField()) },
		func() { ada.Call("restore_list", listField()) },
		func() { ada.Call("set_card_labels", with(cardField(), "add", []string{s.pick(rt, "label")})) },
		func() { ada.Call("set_card_assignees", with(cardField(), "add", []string{s.pick(rt, "user")})) },
		func() { ada.Call("set_card_assignees", with(cardField(), "remove", []string{s.pick(rt, "user")})) },
		func() { ada.Call("set_card_due", with(due(), "cardId", s.pick(rt, "card"))) },
		func() { ada.Call("clear_card_due", cardField()) },
		func() {
			record("checklist", ada.Call("add_checklist", with(cardField(), "title", text(), "items", []string{text(), text()})))
		},
		func() {
			record("item", ada.Call("add_checklist_item", apptest.Fields{"checklistId": s.pick(rt, "checklist"), "title": text(),
				"position": "top"}))
		},
		func() {
			ada.Call("update_checklist_item", apptest.Fields{"itemId": s.pick(rt, "item"), "done": rapid.Bool().Draw(rt, "done"),
				"position": "bottom"})
		},
		func() { ada.Call("delete_checklist", apptest.Fields{"checklistId": s.pick(rt, "checklist")}) },
		func() { record("comment", anyPerson().Call("add_comment", with(cardField(), "text", text()))) },
		func() { record("comment", anyPerson().Call("add_comment", with(cardField(), "text", text()))) },
		func() { ada.Call("edit_comment", apptest.Fields{"commentId": s.pick(rt, "comment"), "text": text()}) },
		func() { ada.Call("delete_comment", apptest.Fields{"commentId": s.pick(rt, "comment")}) },
		func() { ada.Call("update_label", apptest.Fields{"labelId": s.pick(rt, "label"), "color": "lime"}) },
		func() { ada.Call("delete_label", apptest.Fields{"labelId": s.pick(rt, "label")}) },
		func() {
			ada.Call("share_board", apptest.Fields{"boardId": id, "userId": s.pick(rt, "user"), "role": "editor"})
		},
		func() { ada.Call("remove_board_member", apptest.Fields{"boardId": id, "userId": s.pick(rt, "user")}) },
		func() {
			ada.Call("update_board", apptest.Fields{"boardId": id, "name": text(), "color": "teal", "features": map[string]bool{"calendar": false}})
			ada.Call("set_background", apptest.Fields{"boardId": id, "content": apptest.Picture(30, 20)})
		},
	}
	for range rapid.IntRange(5, 50).Draw(rt, "steps") {
		rapid.SampledFrom(steps).Draw(rt, "step")()
	}
	if rapid.IntRange(0, 5).Draw(rt, "archived") == 0 {
		ada.Must("archive_board", apptest.Fields{"boardId": id})
	}
	return id
}

func TestExportWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace, other := ada.Workspace("Engines", board.PlanTeam), ada.Workspace("Elsewhere", board.PlanTeam)
		bob := s.Person("Bob").Joins(workspace, board.WorkspaceMember)
		var trashed string
		for i, visibility := range []string{"workspace", "private", "confidential", "workspace"} {
			trashed = ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": fmt.Sprint("Board ", i),
				"visibility": visibility}).ID()
			list := ada.Must("create_list", apptest.Fields{"boardId": trashed, "name": "To do"}).ID()
			ada.Must("create_card", apptest.Fields{"listId": list, "title": "Card"})
			ada.Must("post_status_update", apptest.Fields{"boardId": trashed, "status": "on_hold", "title": "Waits"})
			ada.Must("create_saved_filter", apptest.Fields{"workspaceId": workspace, "name": visibility, "query": "list:" + list +
				" board:other", "shared": visibility == "workspace"})
		}
		ada.Must("trash_board", apptest.Fields{"boardId": trashed})
		for _, c := range []struct {
			caller board.Caller
			want   []string
		}{
			{board.Person(ada.ID), []string{"Board 0", "Board 1"}},
			{board.Person(bob.ID), []string{"Board 0"}},
			{board.System(), []string{"Board 0", "Board 1"}},
		} {
			doc := exportWorkspace(t, s, c.caller, workspace)
			r, err := importDocument(s, board.Person(ada.ID), other, doc)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, b := range r.Boards {
				names = append(names, b.Name)
			}
			if !slices.Equal(names, c.want) || r.Total().Cards != len(c.want) || r.Total().StatusUpdates != len(c.want) || r.SavedFilters != 2 {
				t.Errorf("got the boards %q and the report %+v, want the boards %q with one card each and 2 filters", names, r, c.want)
			}
		}
		again := ada.Workspace("Again", board.PlanTeam)
		doc := exportWorkspace(t, s, board.Person(ada.ID), workspace)
		if _, err := importDocument(s, board.System(), again, doc); err != nil {
			t.Fatal(err)
		}
		second := exportWorkspace(t, s, board.Person(ada.ID), again)
		if n := strings.Count(string(doc), `"query":`); n != 2 {
			t.Errorf("got %d filters in the document, want the 2 shared ones", n)
		}
		// The workspace's own id and name are not imported.
		mustEqual(t, "the workspace", doc, []byte(renamed(string(second), again, workspace)))
	})
}
