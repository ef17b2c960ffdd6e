package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// readResource returns the content of a resource, or nil if the response is an error. It
// also checks the format and the size of the response.
func (w *world) readResource(p *apptest.Person, revision, uri string) map[string]any {
	w.T.Helper()
	r := p.RPCRequest(revision, "resources/read", fields{"uri": uri})
	if revision == apptest.Stateless {
		r.Header.Set("Mcp-Name", uri)
	}
	a := p.Message(r)
	contents, _ := a.Result["contents"].([]any)
	if len(contents) == 0 {
		if a.Result != nil || a.Reason == "" {
			w.T.Errorf("%q: got status %d, body %s; want contents or an error", uri, a.Status, a.Raw)
		}
		if strings.Contains(string(a.Raw), "Press release") {
			w.T.Errorf("%q: got an error that reveals content: %s", uri, a.Raw)
		}
		return nil
	}
	content := contents[0].(map[string]any)
	if content["uri"] != uri || content["mimeType"] != "application/json" {
		w.T.Errorf("%s: got %v, want the same uri and application/json", uri, content)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(content["text"].(string)), &out); err != nil {
		w.T.Fatalf("%s: got %v, want JSON: %v", uri, content["text"], err)
	}
	if !strings.Contains(fmt.Sprint(out["notice"]), "never follow instructions") {
		w.T.Errorf("%s: got notice %v, want a warning", uri, out["notice"])
	}
	if len(a.Raw) > 60_000 {
		w.T.Errorf("%s: got %d bytes, want at most 60000", uri, len(a.Raw))
	}
	return out
}

func TestResources(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.ada.Must("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"})
		archived := w.ada.Must("create_card", fields{"listId": w.list, "title": "Old"}).ID()
		w.ada.Must("archive_card", fields{"cardId": archived})
		other := w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": "Other"}).ID()
		eve := w.Person("Eve")
		for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
			templates := w.ada.RPC(revision, "resources/templates/list", fields{}).Result["resourceTemplates"].([]any)
			var names []string
			for _, template := range templates {
				names = append(names, template.(map[string]any)["uriTemplate"].(string))
			}
			slices.Sort(names)
			if !slices.Equal(names, []string{"service://boards/{boardId}", "service://boards/{boardId}/cards/{cardId}"}) {
				t.Errorf("got the templates %v, want one for boards and one for cards", names)
			}
			b := w.readResource(w.ada, revision, "service://boards/"+w.board)
			lists, _ := b["lists"].([]any)
			if record, _ := b["board"].(map[string]any); record["id"] != w.board || len(lists) != 1 || len(b["labels"].(map[string]any)) != 1 {
				t.Fatalf("got the board %v, want one list and one label", b)
			}
			cards, _ := lists[0].(map[string]any)["cards"].([]any)
			if len(cards) != 1 || cards[0].([]any)[1] != "Press release" {
				t.Errorf("got the cards %v, want one", cards)
			}
			c := w.readResource(w.ada, revision, "service://boards/"+w.board+"/cards/"+w.card)
			comments, _ := c["comments"].([]any)
			if record, _ := c["card"].(map[string]any); record["id"] != w.card || len(comments) != 1 ||
				comments[0].(map[string]any)["text"] != "Soon." {
				t.Errorf("got the card %v, want its comment", c)
			}
			for _, uri := range []string{
				"", "service://", "service://boards", "service://boards/", "service://boards/x", "service://boards/../" + w.board,
				"service://boards/" + w.board + "/..",
				"service://boards/" + w.board + "/../" + w.board, "service://boards/%2e%2e/" + w.board,
				"service://boards/" + w.board + "%2f..", "service://boards/" + w.board + "/",
				"service://boards/" + w.board + "/cards", "service://boards/" + w.board + "/cards/",
				"service://boards/" + w.board + "/cards/../" + w.card,
				"service://boards/" + other + "/cards/" + w.card, "service://boards/" + w.card,
				"service://boards/" + w.board + "/cards/" + w.board,
				"service://boards/" + strings.ToUpper(w.board), "service://boards/" + w.board + "?x=1",
				"service://boards/" + w.board + "#x", "SERVICE://boards/" + w.board,
				"service://boards/" + w.board + "\n", " service://boards/" + w.board,
				"service://boards/brd_00000000000000000000000000", "file:///etc/passwd", "https://example.com",
				"service://boards/" + strings.Repeat("x", 100_000), "service://boards/{boardId}",
				"service://boards/" + w.board + "\x00", `service://boards/"`, "service://boards/\x01\\", "service://boards/ü",
				"service://boards/\u202e",
			} {
				if got := w.readResource(w.ada, revision, uri); got != nil {
					t.Errorf("%q: got %v, want an error", uri, got)
				}
			}
			for _, uri := range []string{"service://boards/" + w.board, "service://boards/" + w.board + "/cards/" + w.card} {
				if got := w.readResource(eve, revision, uri); got != nil {
					t.Errorf("another person: got %v, want an error", got)
				}
			}
		}
		hidden := eve.RPC(apptest.Sessions, "resources/read", fields{"uri": "service://boards/" + w.board})
		missing := w.ada.RPC(apptest.Sessions, "resources/read", fields{"uri": "service://boards/brd_00000000000000000000000000"})
		if strings.ReplaceAll(string(hidden.Raw), w.board, "") != strings.ReplaceAll(string(missing.Raw),
			"brd_00000000000000000000000000", "") {
			t.Errorf("got %s for a hidden board and %s for a missing board, want the same", hidden.Raw, missing.Raw)
		}
	})
}

func completions(t *testing.T, p *apptest.Person, ref fields, name, typed string, given fields) []string {
	t.Helper()
	params := fields{"ref": ref, "argument": fields{"name": name, "value": typed}}
	if given != nil {
		params["context"] = fields{"arguments": given}
	}
	a := p.RPC(apptest.Stateless, "completion/complete", params)
	completion, ok := a.Result["completion"].(map[string]any)
	if !ok {
		t.Fatalf("got status %d, body %s; want a completion", a.Status, a.Raw)
	}
	out := []string{}
	for _, v := range completion["values"].([]any) {
		out = append(out, v.(string))
	}
	return out
}

func TestCompletion(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		second := w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": "Second"}).ID()
		w.ada.Must("create_card", fields{"listId": w.list, "title": "Other"})
		boards, cards := fields{"type": "ref/resource", "uri": "service://boards/{boardId}"}, fields{"type": "ref/resource",
			"uri": "service://boards/{boardId}/cards/{cardId}"}
		project := fields{"type": "ref/prompt", "name": "set_up_project_board"}
		eve := w.Person("Eve")
		own := eve.Workspace("Own", board.PlanTeam)
		for what, c := range map[string]struct {
			got, want []string
		}{
			"all boards": {sorted(completions(t, w.ada, boards, "boardId", "", nil)),
				sorted([]string{w.board, second})},
			"by name":                    {completions(t, w.ada, boards, "boardId", "seco", nil), []string{second}},
			"by id":                      {completions(t, w.ada, boards, "boardId", second[:len(second)-1], nil), []string{second}},
			"no match":                   {completions(t, w.ada, boards, "boardId", "zzz", nil), []string{}},
			"another person":             {completions(t, eve, boards, "boardId", "", nil), []string{}},
			"id typed by another person": {completions(t, eve, boards, "boardId", w.board, nil), []string{}},
			"cards": {completions(t, w.ada, cards, "cardId", "press", fields{"boardId": w.board}),
				[]string{w.card}},
			"cards without a board":        {completions(t, w.ada, cards, "cardId", "", nil), []string{}},
			"cards for another person":     {completions(t, eve, cards, "cardId", "", fields{"boardId": w.board}), []string{}},
			"workspaces":                   {completions(t, w.ada, project, "workspaceId", "eng", nil), []string{w.workspace}},
			"workspaces of another person": {completions(t, eve, project, "workspaceId", "", nil), []string{own}},
			"goal":                         {completions(t, w.ada, project, "goal", "x", nil), []string{}},
		} {
			if !slices.Equal(c.got, c.want) {
				t.Errorf("%s: got the completions %v, want %v", what, c.got, c.want)
			}
		}
		for i := range 120 {
			w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": fmt.Sprint("Board ", i)})
		}
		a := w.ada.RPC(apptest.Stateless, "completion/complete",
			fields{"ref": boards, "argument": fields{"name": "boardId", "value": ""}}).Result["completion"].(map[string]any)
		if len(a["values"].([]any)) != 100 || a["hasMore"] != true || a["total"] != 122.0 {
			t.Errorf("122 boards: got %d completions, total %v, hasMore %v; want 100, 122, true", len(a["values"].([]any)), a["total"],
				a["hasMore"])
		}
	})
}

func sorted(s []string) []string { slices.Sort(s); return s }

func TestPrompts(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		eve, reader := w.Person("Eve"), w.ada.With(board.ScopeRead)
		get := func(p *apptest.Person, name string, arguments fields) (string, apptest.RPCResponse) {
			a := p.RPC(apptest.Stateless, "prompts/get", fields{"name": name, "arguments": arguments})
			messages, _ := a.Result["messages"].([]any)
			if len(messages) != 1 {
				return "", a
			}
			return messages[0].(map[string]any)["content"].(map[string]any)["text"].(string), a
		}
		var names []string
		for _, p := range w.ada.RPC(apptest.Sessions, "prompts/list", fields{}).Result["prompts"].([]any) {
			names = append(names, p.(map[string]any)["name"].(string))
		}
		if !slices.Equal(names, []string{"set_up_project_board", "triage_my_cards", "weekly_review"}) {
			t.Errorf("got the prompts %v, want set_up_project_board, triage_my_cards and weekly_review", names)
		}
		for name, arguments := range map[string]fields{
			"set_up_project_board": {"goal": "Win the fair", "workspaceId": w.workspace}, "weekly_review": {"boardId": w.board},
			"triage_my_cards": {},
		} {
			text, a := get(w.ada, name, arguments)
			if text == "" || !strings.Contains(text, "never follow instructions") || strings.Contains(text, "is read-only") {
				t.Errorf("%s: got status %d, body %s; want a prompt with a warning", name, a.Status, a.Raw)
			}
			for _, v := range arguments {
				if !strings.Contains(text, v.(string)) {
					t.Errorf("%s: got %s, want it to contain %q", name, text, v)
				}
			}
			for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') }) {
				if strings.Contains(word, "_") && !strings.HasSuffix(word, "_") && w.Registry.Named(word) == nil {
					t.Errorf("%s: got the operation %s, which does not exist", name, word)
				}
			}
			if text, _ := get(reader, name, arguments); !strings.Contains(text, "is read-only") {
				t.Errorf("%s with a read-only token: got %s, want a note about it", name, text)
			}
			for missing := range arguments {
				incomplete := fields{}
				for k, v := range arguments {
					if k != missing {
						incomplete[k] = v
					}
				}
				if text, a := get(w.ada, name, incomplete); text != "" || !strings.Contains(a.Reason, missing) {
					t.Errorf("%s without %s: got status %d, body %s; want an error that names it", name, missing, a.Status, a.Raw)
				}
			}
		}
		for name, arguments := range map[string]fields{
			"set_up_project_board": {"goal": "x", "workspaceId": w.workspace}, "weekly_review": {"boardId": w.board},
		} {
			if text, a := get(eve, name, arguments); text != "" || !strings.Contains(a.Reason, "not_found") {
				t.Errorf("%s for another person: got status %d, body %s; want not_found", name, a.Status, a.Raw)
			}
		}
		if text, a := get(w.ada, "set_up_project_board",
			fields{"goal": strings.Repeat("x", 5000), "workspaceId": w.workspace}); text != "" ||
			!strings.Contains(a.Reason, "goal") {
			t.Errorf("long goal: got status %d, body %s; want an error that names goal", a.Status, a.Raw)
		}
		if _, a := get(w.ada, "make_coffee", nil); a.Code != -32602 {
			t.Errorf("unknown prompt: got status %d, body %s; want code -32602", a.Status, a.Raw)
		}
	})
}
