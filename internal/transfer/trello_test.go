package transfer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
)

func importTrello(s *apptest.Service, caller board.Caller, workspace, text string) (r transfer.Report, err error) {
	err = s.DB.Write(context.Background(), caller, func(tx *store.Tx) (err error) {
		r, err = readInto(context.Background(), tx, workspace, transfer.ImportTrello, strings.NewReader(text), nil)
		return err
	})
	return r, err
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, name); got != want {
		t.Errorf("%s: got\n%s\nwant\n%s\n(make golden rewrites the file)", name, got, want)
	}
}

func TestGoldenTrelloReport(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		for file, want := range map[string]struct{ lists, cards []string }{
			"trello-export-deck.json": {[]string{"TODO"}, []string{"7 Name Card 7"}},
			"trello-export-project100.json": {[]string{"Todo", "In Progress", "Done"}, []string{"2 Write code", "1 Review code",
				"3 Visualize code"}},
		} {
			r, err := importTrello(s, board.Person(ada.ID), workspace, read(t, file))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			id := r.Boards[0].ID
			golden(t, strings.TrimSuffix(file, ".json")+".report", strings.ReplaceAll(r.String(), id, "brd_…"))
			if got := ada.All("list_lists", "name", apptest.Fields{"boardId": id}); !slices.Equal(got, want.lists) {
				t.Errorf("%s: got the lists %q, want %q", file, got, want.lists)
			}
			in := apptest.Fields{"boardId": id}
			titles, numbers := ada.All("list_cards", "title", in), ada.All("list_cards", "number", in)
			for i := range titles {
				titles[i] = numbers[i] + " " + titles[i]
			}
			if !slices.Equal(titles, want.cards) {
				t.Errorf("%s: got the cards %q, want %q", file, titles, want.cards)
			}
			b := ada.Must("get_board", in)
			if b.Get("version") != 1.0 || b.Get("openCards") != float64(len(want.cards)) ||
				b.Get("limits.openLists.count") != float64(len(want.lists)) {
				t.Errorf("%s: got the board %s, want version 1, %d cards and %d lists", file, b.Raw, len(want.cards), len(want.lists))
			}
			if kinds := ada.All("list_board_activity", "type", in); !slices.Equal(kinds, []string{"board.imported"}) {
				t.Errorf("%s: got the activity %q, want board.imported", file, kinds)
			}
			next := ada.Must("create_card", apptest.Fields{"listId": ada.Must("list_lists", in).Text("0.id"), "title": "next"})
			if n, want := next.Get("number").(float64), map[bool]float64{true: 8, false: 4}[len(want.cards) == 1]; n != want {
				t.Errorf("%s: got the next card number %v, want %v", file, n, want)
			}
			roundTrip(t, s, s, board.Person(ada.ID), workspace, id)
		}
	})
}

// rich is a Trello export with objects of many types and many unusual values.
const rich = `{
 "id": "5fcbec03c670ab79e1f625b2", "name": " Launch\u0007 ", "desc": "All of it", "closed": false, "prefs": {"permissionLevel": "private"},
 "members": [{"id": "m1", "fullName": "GRACE", "username": "g"}, {"id": "m2", "fullName": "Somebody Else", "username": "x",
 "email": "EDITH@example.com"},
  {"id": "m3", "fullName": "John Doe", "username": "johndoe"}, {"id": "m4", "fullName": "Twin", "username": "twin"}],
 "memberships": [{"idMember": "m1", "memberType": "normal"}, {"idMember": "m2", "memberType": "observer"}],
 "lists": [
  {"id": "l2", "name": "Second", "pos": 20, "softLimit": 3}, {"id": "l1", "name": "First", "pos": 10.5},
  {"id": "l3", "name": "Old", "pos": 5, "closed": true}],
 "labels": [{"id": "b1", "name": "Urgent", "color": "red_dark"}, {"id": "b2", "name": "", "color": "black"},
 {"id": "b3", "name": "None", "color": null}],
 "cards": [
  {"id": "5fcbec2e6621ca4f0a547896", "idShort": 4, "idList": "l1", "name": "second", "pos": 2, "desc": "a\u0000b",
  "due": "2026-03-14T08:30:00.000Z", "start": "2026-03-10T00:00:00.000Z",
   "dueComplete": true, "dateLastActivity": "2026-03-15T00:00:00.000Z", "idLabels": ["b1", "b1", "nope"],
   "idMembers": ["m1", "m2", "m3", "m4"],
   "attachments": [
    {"id": "t1", "name": "Brief.pdf", "url": "https://trello.com/1/cards/c/attachments/t1/download/Brief.pdf", "idMember": "m1",
     "date": "2026-03-05T00:00:00.000Z", "isUpload": true, "bytes": 1200},
    {"id": "t2", "name": "", "url": "https://example.com/plan"}, {"id": "t3", "name": "Bad", "url": "javascript:alert(1)"},
    {"id": "t4", "name": "Lost"}, {}, 7],
   "stickers": [{}], "badges": {"comments": 4, "votes": 2}, "cover": {"color": "red"},
   "isTemplate": true, "subscribed": true, "coordinates": {"latitude": 1, "longitude": -2.5},
   "locationName": "Dock", "customFieldItems": [{"idCustomField": "f1", "idValue": "o2"},
    {"idCustomField": "f2", "value": {"checked": "true"}},
    {"idCustomField": "f3", "value": {"date": "2026-04-01T09:30:00.000Z"}}, {"idCustomField": "f4", "value": {"number": "100.32"}},
    {"idCustomField": "gone", "value": {"text": "Kept\nin one line"}}, {}, 7]},
  {"id": "c1", "idShort": 9, "idList": "l1", "name": "first", "pos": 1, "closed": true},
  {"id": "c2", "idShort": 4, "idList": "l2", "name": "", "pos": 1, "due": "yesterday"},
  {"id": "c3", "idShort": -1e300, "idList": "gone", "name": "stray \ud83d", "pos": 1},
  {"id": "c1", "idShort": 2.5, "idList": "l3", "name": "twin", "pos": 1, "due": "2026-01-01T00:00:00Z", "start": "2026-01-02T00:00:00Z"}],
 "checklists": [
  {"id": "k2", "idCard": "5fcbec2e6621ca4f0a547896", "name": "After", "pos": 2, "checkItems": []},
  {"id": "k1", "idCard": "5fcbec2e6621ca4f0a547896", "name": "Before", "pos": 1, "checkItems": [
   {"id": "i2", "name": "two", "state": "complete", "pos": 2, "due": "2026-01-01T00:00:00Z"},
   {"id": "i1", "name": "one", "state": "incomplete", "pos": 1, "due": "2026-02-01T10:00:00.000Z", "idMember": "m3"}]},
  {"id": "k3", "idCard": "gone", "name": "Lost", "pos": 1, "checkItems": []}],
 "actions": [
  {"id": "a4", "type": "updateCard", "date": "2026-03-13T00:00:00.000Z",
  "data": {"card": {"id": "5fcbec2e6621ca4f0a547896", "dueComplete": true}, "old": {"dueComplete": false}}},
  {"id": "a3", "type": "commentCard", "date": "2026-03-12T00:00:00.000Z", "idMemberCreator": "m3",
  "data": {"text": "later", "card": {"id": "5fcbec2e6621ca4f0a547896"}}},
  {"id": "a2", "type": "commentCard", "date": "2026-03-11T00:00:00.000Z", "idMemberCreator": "m1",
  "data": {"text": "earlier", "card": {"id": "5fcbec2e6621ca4f0a547896"}}},
  {"id": "a1", "type": "createCard", "date": "2026-03-01T00:00:00.000Z", "idMemberCreator": "m1",
  "data": {"card": {"id": "5fcbec2e6621ca4f0a547896"}}},
  {"id": "a0", "type": "updateBoard", "date": "2026-03-01T00:00:00.000Z", "data": {"card": 7, "old": "x", "text": []}}],
 "customFields": [{"id": "f1", "name": "Size", "options": [{"id": "o1", "value": {"text": "S"}}, {"id": "o2", "value": {"text": "L"}}]},
  {"id": "f2", "name": "Paid"}, {"id": "f3", "name": "Ships"}, {"id": "f4", "name": "Weight"}],
 "pluginData": [{}], "unknown": {"deep": [[[[]]]]}
}`

func TestGoldenTrelloBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		grace := s.Person("Grace").Joins(workspace, board.WorkspaceMember)
		edith := s.Person("Edith").Joins(workspace, board.WorkspaceMember)
		for _, name := range []string{"Twin", "twin2"} {
			p := s.Person(name).Joins(workspace, board.WorkspaceMember)
			if name == "twin2" {
				s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
					return tx.SetMember(ctx, workspace, p.ID, board.WorkspaceMember)
				})
			}
		}
		r, err := importTrello(s, board.System(), workspace, rich)
		if err != nil {
			t.Fatal(err)
		}
		id := r.Boards[0].ID
		golden(t, "rich.report", strings.ReplaceAll(r.String(), id, "brd_…"))
		in := apptest.Fields{"boardId": id}
		b := ada.Must("get_board", in)
		if b.Text("name") != "Launch" || b.Text("visibility") != "private" || b.Text("role") != "admin" ||
			b.Text("createdAt") != "2020-12-05T20:22:27.000Z" {
			t.Errorf("got the board %s, want Launch, private, created in 2020", b.Raw)
		}
		if got, want := ada.All("list_lists", "name", in), []string{"First", "Second", "Imported"}; !slices.Equal(got, want) {
			t.Errorf("got the open lists %q, want %q", got, want)
		}
		cards := ada.Must("list_cards", apptest.Fields{"boardId": id, "archived": "true"})
		titles := []string{"twin", "first", "second", "Untitled", "stray \ufffd"}
		if got := cards.Each("title"); !slices.Equal(got, titles) {
			t.Errorf("got the cards %q, want %q", got, titles)
		}
		if got, want := cards.Each("number"), []string{"11", "9", "4", "12", "10"}; !slices.Equal(got, want) {
			t.Errorf("got the card numbers %q, want %q", got, want)
		}
		c := ada.Must("get_card", apptest.Fields{"cardId": cards.Text("2.id")})
		for path, want := range map[string]any{
			"description": "ab\n\n**From Trello**\n\n- Size: L\n- Paid: yes\n- Ships: 2026-04-01 09:30 UTC\n- Weight: 100.32\n" +
				"- Custom field: Kept in one line\n- Location: Dock; 1, -2.5\n- Attachment: Bad `javascript:alert(1)`\n" +
				"- Attachment: Lost\n",
			"dueDate": "2026-03-14", "dueAt": "2026-03-14T08:30:00.000Z", "startDate": "2026-03-10",
			"startAt":  "2026-03-10T00:00:00.000Z",
			"timeZone": "UTC", "done": true, "doneAt": "2026-03-13T00:00:00.000Z", "createdAt": "2026-03-01T00:00:00.000Z",
			"updatedAt": "2026-03-15T00:00:00.000Z",
			"createdBy": grace.ID, "labels.0.name": "Urgent", "labels.0.color": "red", "labels.1": nil, "assignees.0.id": grace.ID,
			"assignees.1.id":      edith.ID,
			"checklistItems.done": 1.0, "checklistItems.total": 2.0, "comments": 2.0, "checklists.0.title": "Before", "checklists.1.title": "After",
			"checklists.0.items.0.title": "one (due 2026-02-01 10:00 UTC, John Doe)",
			"checklists.0.items.1.title": "two (due 2026-01-01 00:00 UTC)", "checklists.0.items.1.done": true, "archivedAt": nil,
		} {
			if got := c.Get(path); got != want {
				t.Errorf("card: got %s %v, want %v", path, got, want)
			}
		}
		comments := ada.Must("list_comments", apptest.Fields{"cardId": c.ID()})
		if comments.Text("0.text") != "earlier" || comments.Text("0.author.name") != "Grace" ||
			comments.Text("0.createdAt") != "2026-03-11T00:00:00.000Z" ||
			comments.Text("1.text") != "John Doe (Trello):\n\nlater" || comments.Get("1.author") != nil {
			t.Errorf("got the comments %s, want one by Grace and one that names John Doe", comments.Raw)
		}
		links := ada.Must("list_attachments", apptest.Fields{"cardId": c.ID()})
		if got, want := links.Each("name"), []string{"Brief.pdf", "https://example.com/plan"}; !slices.Equal(got, want) ||
			links.Text("0.kind") != "link" || links.Text("0.createdBy") != grace.ID ||
			links.Text("0.createdAt") != "2026-03-05T00:00:00.000Z" || c.Get("attachments") != 2.0 {
			t.Errorf("got the attachments %s, want two links, the first by Grace", links.Raw)
		}
		members := ada.Must("list_board_members", in)
		if got := members.Each("role"); len(got) != 3 {
			t.Errorf("got the members %s, want 3", members.Raw)
		}
		s.Person("Eve").Joins(workspace, board.WorkspaceMember).Refused(board.CodeNotFound, "get_board", in)
		roundTrip(t, s, s, board.System(), workspace, id)
	})
}

func TestTrelloRefusals(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenCards, limits.Items = 3, 2
	apptest.BothWith(t, apptest.Options{Limits: limits}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		for name, c := range map[string]struct{ text, want string }{
			"empty file":       {"", "cut off"},
			"HTML":             {"<html>", "not valid JSON"},
			"array":            {`[]`, "The document"},
			"no lists":         {`{"cards": []}`, "lists and cards are required"},
			"number as a name": {`{"lists": [{"name": 7}], "cards": []}`, "lists/0/name"},
			"object as lists":  {`{"lists": {"a": 1}, "cards": []}`, "lists"},
			"huge number":      {`{"lists": [{"pos": 1e999}], "cards": []}`, "lists/0/pos"},
			"duplicate member": {`{"lists": [], "lists": [], "cards": []}`, "duplicate"},
			"truncated file":   {rich[:len(rich)/2], "cut off"},
			"deep nesting":     {`{"x": ` + strings.Repeat("[", 20_000), "not valid JSON"},
			"too many cards":   {`{"lists": [], "cards": [{},{},{},{}]}`, "at most 3 cards (not counting archived ones) on a board; the file has 4"},
		} {
			_, err := importTrello(s, board.Person(ada.ID), workspace, c.text)
			if f, ok := board.AsFault(err); !ok || !strings.Contains(f.Message, c.want) {
				t.Errorf("%s: got %v, want an error that contains %q", name, err, c.want)
			}
		}
		for name, text := range map[string]string{
			"deep nesting in an unknown member": `{"lists": [], "cards": [], "x": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
			"byte order mark":                   "\ufeff{\"lists\": [], \"cards\": []}",
			"bad UTF-8":                         "{\"name\": \"a\xff\", \"lists\": [], \"cards\": [{\"name\": \"\xc3\x28\"}]}",
		} {
			if _, err := importTrello(s, board.Person(ada.ID), workspace, text); err != nil {
				t.Errorf("%s: got error %v, want none", name, err)
			}
		}
		if got := ada.All("list_boards", "name", nil); len(got) != 3 {
			t.Errorf("got the boards %q, want the three accepted ones", got)
		}
		long := fmt.Sprintf(`{"lists": [{"id": "l", "name": %q}], "cards": [{"id": "c", "idList": "l", "name": %[1]q, "desc": %[1]q,
			"customFieldItems": [{"value": {"text": "kept"}}]}],
			"checklists": [{"idCard": "c", "name": "k", "checkItems": [{"name": "1"}, {"name": "2"}, {"name": "3"}]}]}`, strings.Repeat("ä", 20_000))
		r, err := importTrello(s, board.Person(ada.ID), workspace, long)
		if err != nil {
			t.Fatal(err)
		}
		card := ada.Must("list_cards", apptest.Fields{"boardId": r.Boards[0].ID})
		if n := len([]rune(card.Text("0.title"))); n != 512 {
			t.Errorf("got a title of %d characters, want 512", n)
		}
		if n := len([]rune(card.Text("0.description"))); n != 16_384 {
			t.Errorf("got a description of %d characters, want 16384", n)
		}
		comments := ada.Must("list_comments", apptest.Fields{"cardId": card.Text("0.id")})
		if !strings.Contains(comments.Text("0.text"), "Custom field: kept") {
			t.Errorf("got the comments %s, want one with the value for which the description has no room", comments.Raw)
		}
		if r.Total().Checklists != 2 || r.Total().Items != 3 {
			t.Errorf("got the report %+v, want 2 checklists with 3 items", r.Total())
		}
	})
}

func TestTrelloImportRequiresAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		guest := s.Person("Guest").Joins(workspace, board.WorkspaceGuest)
		if _, err := importTrello(s, board.Person(guest.ID), workspace, rich); !board.IsCode(err, board.CodeForbidden) {
			t.Errorf("import by a guest: got error %v, want forbidden", err)
		}
		if _, err := importTrello(s, board.Person(s.Person("Eve").ID), workspace, rich); !board.IsCode(err, board.CodeNotFound) {
			t.Errorf("import by a person outside the workspace: got error %v, want not_found", err)
		}
	})
}
