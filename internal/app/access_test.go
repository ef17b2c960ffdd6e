package app_test

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

//go:embed testdata/access.txt
var accessText string

// accessTable reads one part of testdata/access.txt. Each row begins with its key, which consists of
// the given number of words. accessTable returns the keys in order, and the rest of each row by key.
func accessTable(t *testing.T, part string, words int) (keys []string, rows map[string][]string) {
	t.Helper()
	rows = map[string][]string{}
	in := false
	for line := range strings.Lines(accessText) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case strings.HasPrefix(f[0], "["):
			in = f[0] == "["+part+"]"
		case in:
			key := strings.Join(f[:words], " ")
			if rows[key] != nil {
				t.Fatalf("testdata/access.txt has %s twice", key)
			}
			keys, rows[key] = append(keys, key), f[words:]
		}
	}
	return keys, rows
}

var (
	allWorkspaceRoles = []board.WorkspaceRole{"owner", "admin", "member", "guest", ""}
	allRoles          = []board.Role{"", "viewer", "commenter", "editor", "admin"}
	allVisibilities   = []board.Visibility{"workspace", "private", "confidential"}
)

func word[T ~string](role T) string {
	if role == "" {
		return "none"
	}
	return string(role)
}

func TestEveryOperationHasAnAccessRow(t *testing.T) {
	t.Parallel()
	var have []string
	for _, part := range []string{"board", "workspace", "everybody", "person", "anybody"} {
		keys, _ := accessTable(t, part, 1)
		for _, k := range keys {
			name, _, _ := strings.Cut(k, ":")
			have = append(have, name)
		}
	}
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	for _, o := range s.Registry.All() {
		if !slices.Contains(have, o.Name) {
			t.Errorf("the operation %s has no row in testdata/access.txt: add a row that says which role may call it", o.Name)
		}
	}
	for _, name := range have {
		if s.Registry.Named(name) == nil {
			t.Errorf("testdata/access.txt has %s, which is no longer an operation; remove the row", name)
		}
	}
	if _, rows := accessTable(t, "role", 2); len(rows) != len(allWorkspaceRoles)*len(allRoles) {
		t.Errorf("testdata/access.txt has %d combinations of roles, want %d", len(rows), len(allWorkspaceRoles)*len(allRoles))
	}
}

// subject is a person with roles in the workspace and on the board.
type subject struct {
	*apptest.Person
	inWorkspace board.WorkspaceRole
	onBoard     board.Role
}

// TestAccess checks the operations on boards against the table, for every combination of workspace
// role, board role and visibility.
func TestAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		_, roles := accessTable(t, "role", 2)
		operations, may := accessTable(t, "board", 1)
		w := newWorld(s)
		var subjects []subject
		for _, inWorkspace := range allWorkspaceRoles {
			for _, onBoard := range allRoles {
				p := s.Person(fmt.Sprintf("In-%s-on-%s", word(inWorkspace), word(onBoard)))
				subjects = append(subjects, subject{p, inWorkspace, onBoard})
			}
		}
		for at, visibility := range allVisibilities {
			w.fill(visibility)
			for _, p := range subjects {
				w.setRoles(p.Person, board.WorkspaceMember, w.board, board.RoleAdmin)
				own := p.Must("add_comment", fields{"cardId": w.card, "text": "Mine."}).ID()
				w.setRoles(p.Person, p.inWorkspace, w.board, p.onBoard)
				role := roles[word(p.inWorkspace)+" "+word(p.onBoard)][at]
				column := slices.Index([]string{"none", "viewer", "commenter", "editor", "admin"}, role)
				seen := p.All("list_boards", "id", fields{"includeArchived": true})
				if slices.Contains(seen, w.board) != (role != "none") {
					t.Errorf("list_boards by %s, with the role %s on a %s board, shows the board: got %t, want %t", p.Name, role, visibility,
						slices.Contains(seen, w.board), role != "none")
				}
				for _, operation := range operations {
					in, undo := w.accessCase(t, operation, own)
					name, _, _ := strings.Cut(operation, ":")
					a := p.Call(name, in)
					if got := verdict(a); got != may[operation][column] {
						t.Errorf("%s by %s on a %s board with the role %s: got %s, want %s (status %d, body %s)", operation, p.Name,
							visibility, role, got,
							may[operation][column], a.Status, a.Raw)
					}
					if name == "get_board" && a.Status == 200 && a.Text("role") != role {
						t.Errorf("%s on a %s board: get_board returns the role %s, want %s", p.Name, visibility, a.Text("role"), role)
					}
					undo()
					w.tidy(name, in, a)
				}
				if a := w.owner.Call("delete_comment", fields{"commentId": own}); a.Status/100 != 2 &&
					a.Code != board.CodeNotFound {
					t.Errorf("delete_comment during cleanup: got status %d, body %s; want success or not_found", a.Status, a.Raw)
				}
			}
		}
	})
}

func verdict(a apptest.Response) string {
	switch {
	case a.Status/100 == 2:
		return "yes"
	case a.Code == board.CodeForbidden && a.Status == 403:
		return "no"
	case a.Code == board.CodeNotFound && a.Status == 404:
		return "hidden"
	}
	return fmt.Sprintf("%d %s", a.Status, a.Code)
}

// accessCase returns an input for a row of the table. After the operation, the caller must call undo,
// which restores what accessCase or the operation archived or moved to the trash.
func (w *world) accessCase(t *testing.T, operation, ownComment string) (in fields, undo func()) {
	t.Helper()
	undo = func() {}
	here := fields{"boardId": w.board}
	back := func() { w.owner.Must("restore_board", here) }
	switch operation {
	case "update_board:visibility":
		return with(here, "visibility", w.owner.Must("get_board", here).Text("visibility")), undo
	case "update_board:features":
		return with(here, "features", fields{"calendar": true}), undo
	case "archive_board", "trash_board":
		return here, back
	case "restore_board":
		w.owner.Must("archive_board", here)
		return here, back
	case "restore_board:trashed":
		w.owner.Must("trash_board", here)
		return here, back
	case "restore_card:deleted":
		card := fields{"cardId": w.newArchivedCard()}
		w.owner.Must("delete_card", card)
		return card, undo
	case "restore_list:deleted":
		w.owner.Must("archive_list", fields{"listId": w.doing})
		w.owner.Must("delete_list", fields{"listId": w.doing})
		return fields{"listId": w.doing}, func() { w.owner.Must("restore_list", fields{"listId": w.doing}) }
	case "archive_list":
		return fields{"listId": w.doing}, func() { w.owner.Must("restore_list", fields{"listId": w.doing}) }
	case "edit_comment:own":
		return fields{"commentId": ownComment, "text": "Mine still."}, undo
	case "delete_comment:own":
		return fields{"commentId": ownComment}, undo
	case "move_card_to_board", "move_list_to_board":
		// The row covers only the source board, so everyone in the workspace may edit the target board.
		people := w.owner.All("list_workspace_members", "id", fields{"workspaceId": w.workspace, "limit": 200})
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			for _, id := range people {
				if err := tx.SetBoardMember(ctx, w.second, id, board.RoleEditor); err != nil {
					return err
				}
			}
			return nil
		})
	case "clear_card_due":
		return fields{"cardId": w.card}, undo
	case "set_card_assignees":
		return fields{"cardId": w.card, "add": []string{w.owner.ID}}, undo
	case "delete_webhook:board":
		return fields{"webhookId": w.Listener(w.workspace, w.board)}, undo
	}
	if operation == "rotate_webhook_secret:board" {
		return fields{"webhookId": w.boardHook, "force": true}, undo // another case has rotated the secret
	}
	if strings.HasSuffix(operation, ":board") {
		return fields{"webhookId": w.boardHook}, undo
	}
	return w.sample(t, w.Registry.Named(operation)), undo
}

// tidy deletes or archives what was created for a call or by it, so that the responses of later
// calls stay short.
func (w *world) tidy(name string, in fields, a apptest.Response) {
	switch done := a.Status/100 == 2; {
	case done && name == "create_rule":
		w.owner.Must("delete_rule", fields{"ruleId": a.ID()})
	case in["ruleId"] != nil && (!done || name != "delete_rule"):
		w.owner.Must("delete_rule", fields{"ruleId": in["ruleId"]})
	case done && name == "create_list":
		w.owner.Must("archive_list", fields{"listId": a.ID()})
	case done && name == "create_label":
		w.owner.Must("delete_label", fields{"labelId": a.ID()})
	case done && name == "create_card":
		w.owner.Must("archive_card", fields{"cardId": a.ID()})
	case done && name == "add_checklist":
		w.owner.Must("delete_checklist", fields{"checklistId": a.ID()})
	case done && name == "add_checklist_item":
		w.owner.Must("delete_checklist_item", fields{"itemId": a.ID()})
	case done && (name == "add_attachment" || name == "restore_attachment"):
		w.owner.Must("delete_attachment", fields{"attachmentId": a.ID()})
	case done && name == "add_comment":
		w.owner.Must("delete_comment", fields{"commentId": a.ID()})
	case !done && (strings.HasPrefix(name, "delete_") || name == "archive_card"):
		w.owner.Must(name, in)
	}
}

func TestAccessToWorkspaces(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		operations, may := accessTable(t, "workspace", 1)
		everybody, _ := accessTable(t, "everybody", 1)
		for column, role := range allWorkspaceRoles {
			p := s.Person("In-" + word(role))
			w.setRoles(p, role, w.board, board.RoleNone)
			for _, operation := range operations {
				want := may[operation][column]
				a := p.Call(operation, w.sample(t, s.Registry.Named(operation)))
				addresses := a.Status == 200 && bytes.Contains(a.Raw, []byte("@example.com"))
				if got := verdict(a); got != strings.ReplaceAll(want, "address", "yes") || addresses != (want == "address") {
					t.Errorf("%s by %s: got %s, with email addresses: %v; want %s (status %d, body %s)", operation, p.Name, got,
						addresses, want, a.Status, a.Raw)
				}
			}
			for _, operation := range everybody {
				p.Must(operation, nil)
			}
			if seen := p.All("list_workspaces", "id", nil); slices.Contains(seen, w.workspace) != (role != "") {
				t.Errorf("%s: list_workspaces returns %v; want it to contain %s: %t", p.Name, seen, w.workspace, role != "")
			}
		}
	})
}

// Operations that require a browser session refuse tokens, whatever their scopes. Those that the
// table marks as recent also require a recent sign-in.
func TestAccessToAccounts(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		_, person := accessTable(t, "person", 1)
		_, anybody := accessTable(t, "anybody", 1)
		program := w.owner.With(board.ScopeRead, board.ScopeWrite, board.ScopeAdmin)
		browser := s.Browser()
		for _, o := range s.Registry.All() {
			if o.Audience.NeedsSession() != (person[o.Name] != nil) || o.Audience.NeedsNoAccount() != (anybody[o.Name] != nil) {
				t.Errorf("%s has audience %d, which differs from the table", o.Name, o.Audience)
			}
			if !o.Audience.NeedsSession() && !o.Audience.NeedsNoAccount() {
				continue
			}
			in := w.sample(t, o)
			a := program.Call(o.Name, in)
			if o.Audience.NeedsSession() && (a.Status != 403 || a.Code != board.CodeForbidden ||
				strings.HasPrefix(a.Message, "Sign in again")) {
				t.Errorf("%s with a token: got status %d, body %s; want 403 without a request to sign in again", o.Name, a.Status, a.Raw)
			}
			if o.Audience.NeedsNoAccount() {
				s.Browser().Must(o.Name, w.sample(t, o))
				continue
			}
			if a := browser.Call(o.Name, in); a.Status != 401 || a.Code != board.CodeUnauthenticated {
				t.Errorf("%s without credentials: got status %d, body %s; want 401", o.Name, a.Status, a.Raw)
			}
			if (person[o.Name][0] == "recent") != o.Recent {
				t.Errorf("%s requires a recent sign-in: %v; the table has %v", o.Name, o.Recent, person[o.Name])
			}
			if !o.Recent {
				continue
			}
			later := s.Browser()
			later.Must("sign_in", fields{"email": w.withPassword(), "password": password})
			s.Clock.Advance(board.RecentFor)
			if a := later.Keyed("k"+o.Name, o.Name, in); a.Status != 403 || a.Code != board.CodeForbidden ||
				!strings.Contains(string(a.Raw), `"reason":"recent_sign_in_required"`) {
				t.Errorf("%s ten minutes after the sign-in: got status %d, body %s; want 403 recent_sign_in_required", o.Name, a.Status, a.Raw)
			}
			if o.Name == "delete_account" {
				continue
			}
			// After the sign-in is confirmed, the same operation with the same key succeeds.
			in = w.sample(t, o)
			later.Must("confirm_sign_in", fields{"password": password})
			if a := later.Keyed("k"+o.Name, o.Name, in); a.Status/100 != 2 || a.Header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s after the sign-in was confirmed: got status %d, body %s; want success, not a replay", o.Name, a.Status, a.Raw)
			}
		}
	})
}
