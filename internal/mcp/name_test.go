package mcp_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/mcp"
	"cardwall/internal/op"
)

// onlyIDs are the fields of tools that take ids and no names, and why.
var onlyIDs = map[string]string{
	"callIds": "calls have no names", "tokenId": "tokens are not listed",
	"invitationId": "invitations have no names", "jobId": "jobs have no names", "commentId": "comments have no names",
	"checklistId": "titles of checklists are rarely unique", "itemId": "titles of items are rarely unique",
	"attachmentId": "names of files are rarely unique", "templateId": "few calls, and list_board_templates is short",
	"filterId": "few calls, and list_saved_filters is short", "position": "siblings are cards, lists or items",
	"assignee": "the filter takes names itself", "assigneeAll": "the filter takes names itself",
	"assigneeNot": "the filter takes names itself", "creator": "the filter takes names itself",
	"creatorNot": "the filter takes names itself", "actor": "not listed, and an actor need not be a person",
}

// severalBoards are the tools whose filters cover several boards, so that names are not unique. There, q
// finds all lists and labels with a name.
var severalBoards = []string{"list_my_cards", "list_filter_cards"}

// eachField calls fn for a field and the fields within it. Those are named like cards[].listId.
func (w *world) eachField(field string, s *huma.Schema, fn func(field string, s *huma.Schema)) {
	object := s
	if s.Items != nil {
		field, object = field+"[]", s.Items
	}
	if object.Ref != "" {
		object = w.Registry.Schemas.SchemaFromRef(object.Ref)
	}
	if len(object.Properties) == 0 {
		fn(strings.TrimSuffix(field, "[]"), s)
	}
	for name, property := range object.Properties {
		w.eachField(field+"."+name, property, fn)
	}
}

func TestEveryFieldWithIDsTakesNamesOrIsExempt(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	id := regexp.MustCompile(`\b[a-z]{3}_[0-9a-z]{26}\b|\b(?i:ids?)\b|Ids?$`) // an example, a description, or the end of the name
	seen := map[string]bool{}
	check := func(o *op.Operation, field string, s *huma.Schema) {
		text := ""
		for _, schema := range append(slices.Clone(s.OneOf), s) {
			if schema.Ref != "" {
				schema = w.Registry.Schemas.SchemaFromRef(schema.Ref)
			}
			encoded, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			text += string(encoded)
		}
		name := field[strings.LastIndexByte(field, '.')+1:]
		if !id.MatchString(text + s.Description + name) {
			return
		}
		filter := slices.Contains(severalBoards, o.Name) && regexp.MustCompile(`^(list|label)`).MatchString(name)
		_, exempt := onlyIDs[name]
		seen[name], seen[field] = true, true
		if named := mcp.TakesNames(t, w.Registry, o, field); named == (exempt || filter) {
			t.Errorf("%s of %s: got names %v, exempt %v; want one of them", field, o.Name, named, exempt || filter)
		}
	}
	for _, o := range w.Registry.All() {
		for _, f := range o.Input.Fields {
			if o.IsTool() {
				w.eachField(f.Name, f.Schema, func(field string, s *huma.Schema) { check(o, field, s) })
			}
		}
	}
	for name := range onlyIDs {
		if !seen[name] {
			t.Errorf("onlyIDs has %s, which is not an id field of a tool", name)
		}
	}
	if !seen["cards[].labels"] || !seen["changes[].cardIds"] {
		t.Error("got no fields with ids within others")
	}
}

// named is a world with more boards, people and labels, and the names of its records.
type named struct {
	*world
	bob, eve   *apptest.Person
	bug, doing string // on Launch, where card and card2 have the numbers 1 and 2
	card2      string
	other      string // a board
	otherDoing string
	secret     string // a board of Eve's, which has a list and three cards
}

func newNamed(w *world) *named {
	n := &named{world: w}
	n.bob = w.Person("Bob").Joins(w.workspace, board.WorkspaceMember)
	n.eve = w.Person("Eve").Joins(w.workspace, board.WorkspaceMember)
	n.bug = w.ada.Must("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"}).ID()
	n.doing = w.ada.Must("create_list", fields{"boardId": w.board, "name": "Doing"}).ID()
	n.other = w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": "Other / Board"}).ID()
	n.otherDoing = w.ada.Must("create_list", fields{"boardId": n.other, "name": "Doing"}).ID()
	n.card2 = w.ada.Must("create_card", fields{"listId": w.list, "title": "Second"}).ID()
	n.secret = n.eve.Must("create_board", fields{"workspaceId": w.workspace, "name": "Secret", "visibility": "private"}).ID()
	secret := n.eve.Must("create_list", fields{"boardId": n.secret, "name": "Hidden"}).ID()
	for range 3 {
		n.eve.Must("create_card", fields{"listId": secret, "title": "Hidden"})
	}
	return n
}

func bothNamed(t *testing.T, fn func(t *testing.T, n *named)) {
	both(t, func(t *testing.T, w *world) { fn(t, newNamed(w)) })
}

// call calls a tool in a revision and stops the test unless it succeeds.
func (n *named) call(revision, tool string, in fields) apptest.ToolResponse {
	n.T.Helper()
	a := n.ada.ToolOf(n.ada.RPC(revision, "tools/call", fields{"name": tool, "arguments": in}))
	if a.Failed {
		n.T.Fatalf("%s %v: got %s, want success", tool, in, a.Text)
	}
	return a
}

// refuses calls a tool, which must return invalid_request with these candidates, and returns
// the text.
func (n *named) refuses(p *apptest.Person, tool string, in fields, ids ...string) string {
	n.T.Helper()
	return n.fails(board.CodeInvalidRequest, p, tool, in, ids...)
}

// unknown is like refuses, but for not_found.
func (n *named) unknown(p *apptest.Person, tool string, in fields, ids ...string) string {
	n.T.Helper()
	return n.fails(board.CodeNotFound, p, tool, in, ids...)
}

func (n *named) fails(code board.Code, p *apptest.Person, tool string, in fields, ids ...string) string {
	n.T.Helper()
	a := p.Tool(tool, in)
	if a.Code != code {
		n.T.Errorf("%s %v: got %s, want %s", tool, in, a.Raw, code)
	}
	var got []string
	for _, c := range candidates(a) {
		got = append(got, c["id"].(string))
	}
	slices.Sort(got)
	slices.Sort(ids)
	if !slices.Equal(got, ids) {
		n.T.Errorf("%s %v: got the candidates %v, want %v; text: %s", tool, in, got, ids, a.Text)
	}
	return a.Text
}

// candidates returns the candidates of an error, which are also at the end of its text.
func candidates(a apptest.ToolResponse) (out []map[string]any) {
	var body struct {
		Result struct {
			Structured struct {
				Error struct {
					Candidates []map[string]any `json:"candidates"`
				} `json:"error"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(a.Raw, &body); err != nil {
		panic(err)
	}
	out = body.Result.Structured.Error.Candidates
	if _, text, ok := strings.Cut(a.Text, " Candidates: "); ok != (out != nil) {
		panic("the text and the structured content differ: " + a.Text)
	} else if ok {
		var same []map[string]any
		if err := json.Unmarshal([]byte(text), &same); err != nil || fmt.Sprint(same) != fmt.Sprint(out) {
			panic("the text and the structured content differ: " + a.Text)
		}
	}
	return out
}

func TestToolsTakeNames(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		n.ada.Must("create_label", fields{"boardId": n.board, "color": "teal"})
		for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
			for _, c := range []struct {
				tool string
				in   fields
				path string
				want string
			}{
				{"get_workspace", fields{"workspaceId": "ENGINES"}, "id", n.workspace},
				{"get_board", fields{"boardId": "  launch "}, "id", n.board},
				{"get_card", fields{"cardId": "Launch#1"}, "id", n.card},
				{"get_card", fields{"cardId": "launch # 2"}, "id", n.card2},
				{"get_card", fields{"cardId": "Launch #2"}, "id", n.card2},
				{"get_card", fields{"cardId": "#2"}, "id", n.card2}, // Secret also has a card with this number
				{"move_card", fields{"cardId": "2", "listId": "doing"}, "listId", n.doing},
				{"move_card", fields{"cardId": n.card2, "listId": "Launch / Doing"}, "listId", n.doing},
				{"list_cards", fields{"boardId": "Launch", "list": "doing, none", "view": "compact"}, "0.listId", n.doing},
				{"create_card", fields{"listId": "Other / Board / Doing", "title": "New", "assignees": []string{"me", "Bob"}},
					"assignees.1.id", n.bob.ID},
				{"create_card", fields{"listId": n.doing, "title": "New", "labels": []string{"bug", "Teal"}}, "labels.1.id", n.bug},
				{"update_cards", fields{"boardId": "Launch", "cardIds": []string{"#2", "1"}, "listId": "To do", "addLabels": []string{"Bug"},
					"addAssignees": []string{"bob@example.com"}}, "rows.0.4", "Bob"},
				{"update_cards", fields{"boardId": "Launch", "changes": []fields{{"cardIds": []string{"Launch#1"}, "listId": "To do"},
					{"cardIds": []string{"#2"}, "listId": "doing", "removeLabels": []string{"bug"}}}}, "rows.1.2", "Doing"},
				{"create_cards", fields{"boardId": "Launch", "cards": []fields{{"listId": "doing", "title": "New", "labels": []string{"teal"}},
					{"listId": "Launch / To do", "title": "Newer", "assignees": []string{"Bob"}}}}, "rows.1.4", "Bob"},
				{"set_card_assignees", fields{"cardId": "Launch#1", "add": []string{"me"}, "remove": []string{"Bob"}}, "assignees.0.id", n.ada.ID},
				{"set_card_labels", fields{"cardId": n.card, "add": []string{n.bug}, "remove": []string{"teal"}}, "labels.0.id", n.bug},
				{"update_label", fields{"labelId": "Launch / Bug", "color": "red"}, "id", n.bug},
				{"update_list", fields{"listId": "Launch / To do", "wipLimit": 9}, "id", n.list},
				{"copy_card", fields{"cardId": n.card, "listId": "Doing"}, "listId", n.doing},
				{"share_board", fields{"boardId": "Other / board", "userId": "Bob", "role": "viewer"}, "id", n.bob.ID},
				{"remove_board_member", fields{"boardId": n.other, "userId": "Bob"}, "id", n.bob.ID},
				{"archive_board", fields{"boardId": "Other / Board"}, "id", n.other},
				{"restore_board", fields{"boardId": "Other / Board"}, "id", n.other},
				{"archive_list", fields{"listId": "Launch / Doing"}, "id", n.doing},
				{"restore_list", fields{"listId": "Launch / Doing"}, "id", n.doing},
			} {
				if got := n.call(revision, c.tool, c.in).Response.Text(c.path); got != c.want {
					t.Errorf("%s %v: got %s %s, want %s", c.tool, c.in, c.path, got, c.want)
				}
			}
			link := n.call(revision, "export_board", fields{"boardId": "Launch"}).Response.Text("link")
			if !strings.Contains(link, n.board) {
				t.Errorf("export_board: got the link %s, want one with %s", link, n.board)
			}
		}
	})
}
