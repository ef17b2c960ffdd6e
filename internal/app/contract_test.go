package app_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

func TestEveryOperationWorks(t *testing.T) {
	t.Parallel()
	apptest.Both(t, everyOperationWorks)
}

func everyOperationWorks(t *testing.T, s *apptest.Service) {
	w := newWorld(s)
	for _, o := range s.Registry.All() {
		a := w.as(o).Must(o.Name, w.sample(t, o))
		if o.TakesPart() {
			if a.Status != http.StatusNoContent {
				t.Errorf("%s: status %d, want 204", o.Name, a.Status)
			}
			continue
		}
		if status := map[bool]int{false: http.StatusOK, true: http.StatusCreated}[o.Creates]; a.Status != status {
			t.Errorf("%s: status %d, want %d", o.Name, a.Status, status)
		}
		if o.Streams() || o.HasContent() {
			if !o.HasContent() && a.Media() != o.Media {
				t.Errorf("%s: got media type %s, want %s", o.Name, a.Media(), o.Media)
			}
			if o.Media == op.JSON && !bytes.HasSuffix(bytes.TrimSpace(a.Raw), []byte(`"complete":true}`)) {
				t.Errorf("%s: the document is not complete: %s", o.Name, a.Raw)
			}
			continue
		}
		noBoard := o.ReadOnly || o.Audience.NeedsSession() || o.Audience.NeedsNoAccount() ||
			slices.Contains(aboutNoBoard, o.Name)
		if !noBoard && a.Version == 0 {
			t.Errorf("%s: no boardVersion in %s; emit an event, or add it to aboutNoBoard in sample_world_test.go", o.Name, a.Raw)
		}
		if noBoard && !o.Versioned && a.Version != 0 {
			t.Errorf("%s: the response has a boardVersion although no board changed: %s", o.Name, a.Raw)
		}
	}
	for name := range samples {
		if s.Registry.Named(name) == nil {
			t.Errorf("samples in sample_world_test.go has %s, which is no longer an operation; remove it", name)
		}
	}
}

// Each operation needs its own test. The tests that call all operations check only what all of
// them have in common.
func TestEveryOperationHasItsOwnTest(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d test files, error %v; want at least one", len(files), err)
	}
	called := map[string]bool{}
	for _, path := range files {
		// The samples and the list of tools contain the names of operations but do not call them.
		if strings.HasPrefix(path, "../app/") && strings.HasSuffix(path, "world_test.go") || path == "../mcp/tool_test.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, argument := range call.Args {
					if text, ok := argument.(*ast.BasicLit); ok {
						called[strings.Trim(text.Value, `"`)] = true
					}
				}
			}
			return true
		})
	}
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	for _, o := range s.Registry.All() {
		if !called[o.Name] {
			t.Errorf("no test passes %s to a call: add one to the package of the operation", o.Name)
		}
	}
}

// A stranger receives the same response, byte for byte, for an object that exists and for one
// that does not, whichever input field names it.
func TestStrangersCannotTellWhatExists(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		eve := s.Person("Eve")
		elsewhere := eve.Workspace("Elsewhere", board.PlanTeam)
		strangers := map[string]*apptest.Person{"a stranger": eve,
			"a token limited to another workspace": w.owner.Within(w.owner.Workspace("Third", board.PlanTeam))}
		named := 0
		for _, o := range s.Registry.All() {
			in := w.sample(t, o)
			ids := names(in)
			if len(ids) == 0 || o.Audience.NeedsNoAccount() {
				continue
			}
			named++
			before := w.state() // after sample, which may create objects
			random := in
			for _, name := range ids {
				random = with(random, name, store.NewID(in[name].(string)[:4]))
			}
			for who, p := range strangers {
				if o.Audience.NeedsSession() && p != eve {
					continue // no token may call the operation
				}
				there, absent := p.Call(o.Name, in), p.Call(o.Name, random)
				if there.Status != http.StatusNotFound || there.Code != board.CodeNotFound || !bytes.Equal(there.Raw, absent.Raw) ||
					absent.Status != there.Status {
					t.Errorf("%s by %s: got status %d, body %s for an object that exists, %d %s for one that does not; want 404 twice",
						o.Name, who, there.Status, there.Raw, absent.Status, absent.Raw)
				}
			}
			if w.state() != before {
				t.Errorf("%s by a stranger changed something", o.Name)
			}
		}
		if named < 30 {
			t.Errorf("only %d operations were tested, want at least 30", named)
		}
		// Objects named by a second field are hidden as well.
		b := eve.Must("create_board", fields{"workspaceId": elsewhere, "name": "Mine"}).ID()
		list := eve.Must("create_list", fields{"boardId": b, "name": "Mine"}).ID()
		card := eve.Must("create_card", fields{"listId": list, "title": "Mine"}).ID()
		for _, second := range []struct {
			name, field, id string
			in              fields
			value           func(id string) any
		}{
			{"move_card", "listId", w.list, fields{"cardId": card}, text},
			{"move_card", "position", w.card, fields{"cardId": card, "listId": list}, func(id string) any {
				return fields{"after": id}
			}},
			{"move_card_to_board", "listId", w.list, fields{"cardId": card}, text},
			{"move_list_to_board", "boardId", w.board, fields{"listId": list}, text},
			{"copy_card", "listId", w.list, fields{"cardId": card}, text},
			{"copy_board", "workspaceId", w.workspace, fields{"boardId": b, "name": "x"}, text},
			{"create_board_from_template", "templateId", w.make("save_board_as_template", fields{"boardId": w.board}),
				fields{"workspaceId": elsewhere}, text},
			{"create_card", "labels", w.label, fields{"listId": list, "title": "x"}, list1},
			{"create_card", "assignees", w.owner.ID, fields{"listId": list, "title": "x"}, list1},
			{"set_card_labels", "add", w.label, fields{"cardId": card}, list1},
			{"set_card_labels", "remove", w.label, fields{"cardId": card}, list1},
			{"set_card_assignees", "add", w.owner.ID, fields{"cardId": card}, list1},
			{"share_board", "userId", w.owner.ID, fields{"boardId": b, "role": "viewer"}, text},
			{"remove_board_member", "userId", w.owner.ID, fields{"boardId": b}, text},
		} {
			absent := store.NewID(second.id[:4])
			x := eve.Call(second.name, with(second.in, second.field, second.value(second.id)))
			y := eve.Call(second.name, with(second.in, second.field, second.value(absent)))
			yRaw := bytes.ReplaceAll(y.Raw, []byte(absent), []byte(second.id))
			if x.Status != y.Status || x.Status/100 == 5 || x.Code != "" && !bytes.Equal(x.Raw, yRaw) {
				t.Errorf("%s.%s: got status %d, body %s for an object that exists, %d %s for one that does not; want the same response",
					second.name, second.field, x.Status, x.Raw, y.Status, y.Raw)
			}
		}
	})
}

func text(id string) any  { return id }
func list1(id string) any { return []string{id} }

func TestScopes(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		tokens := map[board.Scope][]*apptest.Person{
			board.ScopeWrite: {w.owner.With(board.ScopeRead), w.owner.With(board.ScopeRead, board.ScopeAdmin)},
			board.ScopeAdmin: {w.owner.With(board.ScopeRead), w.owner.With(board.ScopeRead, board.ScopeWrite)},
		}
		enough := map[board.Scope]*apptest.Person{
			board.ScopeRead: w.owner.With(board.ScopeRead), board.ScopeWrite: w.owner.With(board.ScopeRead, board.ScopeWrite),
			board.ScopeAdmin: w.owner.With(board.ScopeRead, board.ScopeAdmin),
		}
		nobody := *w.owner
		nobody.Token = ""
		for _, o := range s.Registry.All() {
			if o.Audience.NeedsSession() || o.Audience.NeedsNoAccount() {
				continue // covered by TestAccessToAccounts
			}
			in := w.sample(t, o)
			before := w.state()
			for _, p := range tokens[o.Scope] {
				for _, key := range []string{"", "scope-" + o.Name} {
					header := http.Header{}
					if key != "" {
						header.Set("Idempotency-Key", key)
					}
					a := p.CallWith(o.Name, in, header)
					if a.Status != http.StatusForbidden || a.Code != board.CodeInsufficientScope ||
						!strings.Contains(a.Message, string(o.Scope)) || !strings.Contains(a.Header.Get("WWW-Authenticate"),
						`error="insufficient_scope", scope="`+board.ScopeText(board.WorkScopes())) {
						t.Errorf("%s without the scope %s: got status %d, body %s, headers %v; want 403 insufficient_scope with a challenge",
							o.Name, o.Scope, a.Status, a.Raw, a.Header)
					}
				}
			}
			a := nobody.Call(o.Name, in)
			if a.Status != http.StatusUnauthorized || a.Code != board.CodeUnauthenticated ||
				!strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer ") ||
				!strings.Contains(a.Header.Get("WWW-Authenticate"), `resource_metadata="`+apptest.BaseURL) {
				t.Errorf("%s without credentials: got status %d, body %s, headers %v; want 401 with a WWW-Authenticate header",
					o.Name, a.Status, a.Raw, a.Header)
			}
			if w.state() != before {
				t.Errorf("%s without permission changed something", o.Name)
			}
			enough[o.Scope].Must(o.Name, in)
		}
	})
}

// administrative lists the operations that need the admin scope. The list is written by hand, not
// derived from the code.
var administrative = []string{
	"trash_board", "delete_list", "delete_card",
	"share_board", "remove_board_member", "create_invitation", "list_invitations", "withdraw_invitation",
	"delete_board_template",
	"create_webhook", "list_webhooks", "delete_webhook", "get_webhook_sample", "get_webhook", "get_webhook_health", "update_webhook",
	"pause_webhook", "enable_webhook", "test_webhook",
	"rotate_webhook_secret", "list_deliveries", "redeliver_many", "get_delivery", "redeliver",
	"get_delivery_quota",
	"list_audit_entries", "export_audit_csv", "export_audit_ndjson", "get_public_page", "update_public_page",
	"renew_public_page",
	"create_rule", "update_rule", "delete_rule", "enable_rule", "disable_rule",
}

func TestScopesMatchTheTable(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	for _, o := range s.Registry.All() {
		want := board.ScopeWrite
		switch {
		case slices.Contains(administrative, o.Name):
			want = board.ScopeAdmin
		// The named operations use POST, because their input is confidential or too long for a URL.
		case o.Method == http.MethodGet, o.Name == "get_invitation", o.Name == "get_authorization_request",
			o.Name == "get_device_request", o.Name == "dry_run_rule", strings.HasPrefix(o.Name, "get_guest_"):
			want = board.ScopeRead
		}
		if o.Scope != want || o.ReadOnly != (want == board.ScopeRead || o.Method == http.MethodGet) {
			t.Errorf("%s: got scope %s, read-only %t; want scope %s, and read-only for the read scope and for GET",
				o.Name, o.Scope, o.ReadOnly, want)
		}
	}
}

func TestArchivedBoardRejectsWrites(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := map[string]fields{}
		for _, o := range s.Registry.All() {
			in[o.Name] = w.sample(t, o)
		}
		for _, name := range []string{"archive_board", "trash_board", "restore_board"} {
			in[name] = fields{"boardId": w.board}
		}
		w.owner.Must("archive_board", fields{"boardId": w.board})
		before := w.state()
		for _, o := range s.Registry.All() {
			switch {
			// These operations create another board.
			case slices.Contains([]string{"create_board", "create_board_from_template", "copy_board"}, o.Name):
			case o.Name == "restore_board": // comes last
			case o.Audience.NeedsSession() || o.Audience.NeedsNoAccount(): // not about boards
			case o.ReadOnly || slices.Contains(aboutNoBoard, o.Name):
				w.owner.Must(o.Name, in[o.Name])
			default:
				for _, header := range []http.Header{nil, {"Idempotency-Key": {"archived-" + o.Name}}} {
					if a := w.owner.CallWith(o.Name, in[o.Name], header); a.Status != http.StatusConflict ||
						a.Code != board.CodeBoardArchived {
						t.Errorf("%s on an archived board: got status %d, body %s; want 409 board_archived", o.Name, a.Status, a.Raw)
					}
				}
			}
		}
		if w.state() != before {
			t.Error("something changed on an archived board")
		}
		w.owner.Must("restore_board", in["restore_board"])
		w.owner.Must("create_card", in["create_card"])
	})
}

// changed returns an input with one changed or added field.
func changed(o *op.Operation, in fields) fields {
	if o.Input.Body == nil {
		return with(in, "unknown", "x")
	}
	for _, f := range o.Input.Fields {
		if f.In == op.InBody {
			return with(in, f.Name, "changed")
		}
	}
	return in
}

func TestKeyedCallsHaveOneEffect(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.owner.Must("share_board", fields{"boardId": w.board, "userId": w.other.ID, "role": "admin"})
		again := map[string]func() apptest.Response{}
		first := s.Clock.Now()
		for _, o := range s.Registry.All() {
			if !o.Keyed() || o.Audience == op.Guest { // the keys of guests belong to a page, not to a person
				continue
			}
			in, key := w.sample(t, o), "key-"+o.Name
			first := w.owner.Keyed(key, o.Name, in)
			if first.Status/100 != 2 || first.Header.Get("Idempotent-Replayed") != "" {
				t.Fatalf("%s: got status %d, body %s, headers %v; want success, not a replay", o.Name, first.Status, first.Raw, first.Header)
			}
			effects := w.effects()
			repeat := func() apptest.Response { return w.owner.Keyed(key, o.Name, in) }
			again[o.Name] = repeat
			if a := repeat(); a.Status != first.Status || !bytes.Equal(a.Raw, first.Raw) ||
				a.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s again: got status %d, body %s, headers %v; want the replay of %d %s", o.Name, a.Status, a.Raw, a.Header,
					first.Status, first.Raw)
			}
			refuse := func(what, name string, in fields) {
				a := w.owner.Keyed(key, name, in)
				if a.Status != http.StatusBadRequest || a.Code != board.CodeInvalidRequest ||
					!strings.Contains(a.Message, "Idempotency-Key") || a.Header.Get("Idempotent-Replayed") != "" {
					t.Errorf("%s: reuse of the key for %s: got status %d, body %s; want 400 and a message about the Idempotency-Key",
						o.Name, what, a.Status, a.Raw)
				}
			}
			refuse("another body", o.Name, changed(o, in))
			if o.Name != "create_label" {
				refuse("another operation", "create_label", fields{"boardId": w.board, "name": "x", "color": "red"})
			}
			if now := w.effects(); now != effects {
				t.Errorf("the replay of %s had an effect: the counts are %v, want %v", o.Name, now, effects)
			}
			if a := w.other.Keyed(key, o.Name, in); a.Header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s: another person with the same key got this person's response", o.Name)
			}
			bad := with(in, "unknown", "x")
			refused, replayed := w.owner.Keyed("bad-"+key, o.Name, bad), w.owner.Keyed("bad-"+key, o.Name, bad)
			if refused.Status/100 != 4 || refused.Header.Get("Idempotent-Replayed") != "" || replayed.Status != refused.Status ||
				!bytes.Equal(replayed.Raw, refused.Raw) || replayed.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s with an unknown field: got status %d, body %s, then %d %s, headers %v; want an error and its replay", o.Name,
					refused.Status, refused.Raw, replayed.Status, replayed.Raw, replayed.Header)
			}
		}
		last := s.Clock.Now()
		s.Clock.Advance(first.Add(24*time.Hour - 5*time.Minute).Sub(s.Clock.Now()))
		for name, repeat := range again {
			if a := repeat(); a.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s was not replayed within 24 hours: got status %d, body %s", name, a.Status, a.Raw)
			}
		}
		s.Clock.Advance(last.Add(24*time.Hour + time.Minute).Sub(s.Clock.Now()))
		for name, repeat := range again {
			if a := repeat(); a.Header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s was replayed after 24 hours: got status %d, body %s", name, a.Status, a.Raw)
			}
		}
	})
}

// effects returns the number of boards, the sum of their versions, and the number of their
// activity entries. It includes archived boards.
func (w *world) effects() (n [3]int) {
	boards := w.owner.All("list_boards", "id", fields{"includeArchived": true, "limit": 200})
	n[0] = len(boards)
	for _, id := range boards {
		n[1] += int(w.owner.Must("get_board", fields{"boardId": id}).Get("version").(float64))
		n[2] += len(w.owner.All("list_board_activity", "id", fields{"boardId": id, "limit": 200}))
	}
	return n
}
