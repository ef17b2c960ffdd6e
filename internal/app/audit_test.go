package app_test

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// entryText returns an entry as one line of text.
func entryText(a apptest.Response, i int) string {
	at := func(field string) string { return fmt.Sprint(a.Get(fmt.Sprintf("%d.%s", i, field))) }
	changes, _ := json.Marshal(a.Get(fmt.Sprintf("%d.changes", i)), json.Deterministic(true))
	return strings.Join([]string{at("operation"), at("actorName"), at("boardName"), at("subjectName"), string(changes)},
		" | ")
}

// An audit entry contains the changes. Changes to a board come from the board's activity. The
// operation records all others.
func TestAuditShowsDifferences(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		name := w.other.Name
		w.owner.Must("update_card", fields{"cardId": w.card, "title": "Release", "done": true})
		w.owner.Must("update_card", fields{"cardId": w.card, "title": "Release"}) // changes nothing
		w.owner.Must("change_member", fields{"workspaceId": w.workspace, "userId": w.other.ID, "role": "admin"})
		w.owner.Must("update_workspace", fields{"workspaceId": w.workspace, "name": "Mills"})
		hook := w.make("create_webhook", w.newWebhook())
		w.owner.Must("update_webhook", fields{"webhookId": hook, "name": "Other bot"})
		until := w.owner.Must("rotate_webhook_secret", fields{"webhookId": hook}).Text("oldSecretUntil")
		w.owner.Must("delete_webhook", fields{"webhookId": hook})
		w.owner.Must("create_invitation", w.invitation("grace@example.com"))
		a := w.owner.Must("list_audit_entries", fields{"workspaceId": w.workspace, "limit": 9})
		want := []string{
			`create_invitation | Ada | <nil> | <nil> | {"email":{"from":null,"to":"grace@example.com"},"role":{"from":null,"to":"member"}}`,
			`delete_webhook | Ada | <nil> | <nil> | {"events":{"from":["card.created","card.moved"],"to":[]},"host":{"from":"` +
				apptest.Receivers + `","to":""},"lastFour":{"from":"hook","to":""},"name":{"from":"Other bot","to":""},"on":{"from":true,"to":false}}`,
			`rotate_webhook_secret | Ada | <nil> | <nil> | {"oldSecretUntil":{"from":null,"to":"` + until + `"}}`,
			`update_webhook | Ada | <nil> | <nil> | {"name":{"from":"Bot","to":"Other bot"}}`,
			`create_webhook | Ada | <nil> | <nil> | {"events":{"from":[],"to":["card.created","card.moved"]},"host":{"from":"","to":"` +
				apptest.Receivers + `"},"lastFour":{"from":"","to":"hook"},"name":{"from":"","to":"Bot"},"on":{"from":false,"to":true}}`,
			`update_workspace | Ada | <nil> | <nil> | {"name":{"from":"Engines","to":"Mills"}}`,
			`change_member | Ada | <nil> | ` + name + ` | {"role":{"from":"member","to":"admin"}}`,
			`update_card | Ada | Launch | Release | {}`,
			`update_card | Ada | Launch | Release | {"done":{"from":false,"to":true},"title":{"from":"Press release","to":"Release"}}`,
		}
		for i, line := range want {
			if got := entryText(a, i); got != line {
				t.Errorf("entry %d is\n%s, want\n%s", i, got, line)
			}
		}
		if a.Get("7.boardVersion") != nil || a.Get("8.boardVersion") == nil {
			t.Errorf("boardVersion: got %v for the call that changed nothing and %v for the other; want null and a number",
				a.Get("7.boardVersion"), a.Get("8.boardVersion"))
		}
		if secrets := s.Column("SELECT details FROM audit WHERE details LIKE '%whsec_%'"); len(secrets) > 0 {
			t.Errorf("the audit log contains secrets: %v", secrets)
		}
	})
}

// For a board that the reader cannot see, the audit log has entries without any text of the
// board or of its webhooks.
func TestAuditHidesPrivateBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		cleo := s.Person("Cleo").Joins(w.workspace, board.WorkspaceMember)
		secret := cleo.Must("create_board",
			fields{"workspaceId": w.workspace, "name": "Payroll", "visibility": "private"}).ID()
		list := cleo.Must("create_list", fields{"boardId": secret, "name": "Rises"}).ID()
		cleo.Must("create_card", fields{"listId": list, "title": "Bob gets more"})
		cleo.Must("create_webhook", fields{"boardId": secret, "url": "https://" + apptest.Receivers + "/payroll",
			"events": []string{"card.created"}, "name": "Wages"})
		words := []string{"Payroll", "Rises", "Bob gets more", "Wages", "roll\""}
		a := w.owner.Must("list_audit_entries", fields{"workspaceId": w.workspace, "actor": cleo.ID})
		if got := a.Each("operation"); !slices.Equal(got,
			[]string{"create_webhook", "create_card", "create_list", "create_board"}) {
			t.Errorf("the owner's audit log has the operations %v, want create_webhook, create_card, create_list, create_board", got)
		}
		for _, export := range []string{"export_audit_csv", "export_audit_ndjson"} {
			a.Raw = append(a.Raw, w.owner.Must(export, fields{"workspaceId": w.workspace}).Raw...)
		}
		for _, word := range words {
			if strings.Contains(string(a.Raw), word) {
				t.Errorf("the audit log shows %s to a reader who cannot see the board", word)
			}
		}
		// When the board's admin becomes an admin of the workspace, the log shows everything.
		w.setRoles(cleo, board.WorkspaceAdmin, secret, board.RoleAdmin)
		a = cleo.Must("list_audit_entries", fields{"workspaceId": w.workspace, "boardId": secret})
		for _, word := range words {
			if !strings.Contains(string(a.Raw), word) {
				t.Errorf("the audit log does not show %s to a reader who can see the board: %s", word, a.Raw)
			}
		}
	})
}

// An export without entries is an empty file, not an error.
func TestEmptyAuditExport(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		a := w.owner.Must("export_audit_ndjson", fields{"workspaceId": w.workspace, "operation": "delete_workspace"})
		if name := a.Header.Get("Content-Disposition"); len(a.Raw) != 0 || !strings.Contains(name, ".ndjson") ||
			a.Header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("got the headers %v and the body %q, want an empty file", a.Header, a.Raw)
		}
	})
}

func TestAuditFilters(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		s.Clock.Advance(time.Date(2026, 6, 1, 21, 59, 0, 0, time.UTC).Sub(s.Clock.Now()))
		program := w.owner.Issue(app.NewToken{Name: "Script", Scopes: []board.Scope{board.ScopeRead, board.ScopeWrite}})
		program.Must("update_list", fields{"listId": w.list, "name": "Monday"})
		s.Clock.Advance(2 * time.Minute) // it is Tuesday in Zürich
		w.other.Must("update_list", fields{"listId": w.list, "name": "Tuesday"})
		here := fields{"workspaceId": w.workspace}
		count := func(in fields) int { return len(w.owner.Must("list_audit_entries", in).Data.([]any)) }
		for name, c := range map[string]struct {
			in   fields
			want int
		}{
			"a person":      {with(here, "actor", w.other.ID), 1},
			"no person":     {with(here, "actor", "automation"), 0},
			"an operation":  {with(here, "operation", "update_list"), 2},
			"a board":       {with(with(here, "boardId", w.board), "operation", "update_list"), 2},
			"another board": {with(with(here, "boardId", w.second), "operation", "update_list"), 0},
			"one day in a zone": {with(with(with(here, "from", "2026-06-02"), "to", "2026-06-02"), "timeZone",
				"Europe/Zurich"), 1},
			"the same day in UTC": {with(with(with(here, "from", "2026-06-02"), "to", "2026-06-02"), "timeZone", "UTC"), 0},
			"until the day before": {with(with(with(here, "operation", "update_list"), "to", "2026-06-01"), "timeZone",
				"Europe/Zurich"), 1},
		} {
			if got := count(c.in); got != c.want {
				t.Errorf("%s: got %d entries, want %d", name, got, c.want)
			}
		}
		byToken := w.owner.Must("list_audit_entries", with(here, "operation", "update_list"))
		token := byToken.Text("1.tokenId")
		if byToken.Text("1.tokenName") != "Script" || count(with(here, "tokenId", token)) != 1 {
			t.Errorf("got %d entries of the token, want 1 with the token name Script; the log is %s",
				count(with(here, "tokenId", token)), byToken.Raw)
		}
		for name, in := range map[string]fields{
			"an invalid day":       with(here, "from", "yesterday"),
			"a day before from":    with(with(here, "from", "2026-06-02"), "to", "2026-06-01"),
			"an unknown time zone": with(with(here, "from", "2026-06-02"), "timeZone", "Mars/Base"),
		} {
			if a := w.owner.Call("list_audit_entries", in); a.Code != board.CodeInvalidRequest {
				t.Errorf("%s: got status %d, body %s; want invalid_request", name, a.Status, a.Raw)
			}
			if a := w.owner.Call("export_audit_csv", in); a.Code != board.CodeInvalidRequest {
				t.Errorf("the export with %s: got status %d, body %s; want invalid_request", name, a.Status, a.Raw)
			}
		}
	})
}

// Entries that v0.2.0 wrote have the operations' current names, and filters find them.
func TestAuditNamesRenamedOperations(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.owner.Must("enable_webhook", onWebhook(nil)(w))
		s.Column("UPDATE audit SET operation = 'switch_on_webhook' WHERE operation = 'enable_webhook' RETURNING id")
		all := fields{"workspaceId": w.workspace, "limit": 1}
		for _, in := range []fields{all, with(all, "operation", "enable_webhook")} {
			if a := w.owner.Must("list_audit_entries", in); a.Text("0.operation") != "enable_webhook" {
				t.Errorf("with the filter %v, the last entry is %s, want enable_webhook", in, a.Raw)
			}
		}
	})
}

// Both exports contain the same entries as the list, across several pages.
func TestAuditExports(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for i := range 210 {
			w.owner.Must("update_list", fields{"listId": w.list, "name": fmt.Sprintf("=SUM(%d)", i)})
		}
		in := fields{"workspaceId": w.workspace, "operation": "update_list"}
		want := w.owner.All("list_audit_entries", "id", with(in, "limit", 100))
		if len(want) != 210 {
			t.Fatalf("got %d entries, want 210", len(want))
		}
		table := w.owner.Must("export_audit_csv", in)
		if table.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf("the Content-Type of the CSV export is %s, want text/csv; charset=utf-8", table.Header.Get("Content-Type"))
		}
		rows, err := csv.NewReader(strings.NewReader(string(table.Raw))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, row := range rows[1:] {
			ids = append(ids, row[0])
			if name := row[slices.Index(rows[0], "subjectName")]; name != "'=SUM(209)" {
				t.Errorf("a name that a spreadsheet would treat as a formula: got %s, want '=SUM(209)", name)
			}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("the %d entries of the CSV export are not the %d of the list", len(ids), len(want))
		}
		ids = nil
		for line := range strings.Lines(string(w.owner.Must("export_audit_ndjson", in).Raw)) {
			var e board.AuditEntry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.ID)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("the %d entries of the NDJSON export are not the %d of the list", len(ids), len(want))
		}
		// A CSV export without entries still has its header row.
		if got := string(w.owner.Must("export_audit_csv", with(in, "operation", "nothing")).Raw); !strings.HasPrefix(got,
			"id,at,operation,") || strings.Count(got, "\n") != 1 {
			t.Errorf("a CSV export without entries is %q, want a header row", got)
		}
	})
}

// In a browser session, operations that return the secret of a webhook need a recent sign-in.
// With a token they do not.
func TestWebhookSecretsNeedARecentSignIn(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		hook := w.make("create_webhook", w.newWebhook())
		browser := s.Browser()
		browser.Must("sign_in", fields{"email": w.withPassword(), "password": password})
		browser.Must("create_webhook", w.newWebhook())
		s.Clock.Advance(board.RecentFor)
		for name, in := range map[string]fields{"create_webhook": w.newWebhook(),
			"rotate_webhook_secret": {"webhookId": hook}} {
			if !s.Registry.Named(name).Secret {
				t.Errorf("%s is not registered with op.Secret", name)
			}
			if a := browser.Call(name, in); a.Status != 403 || !strings.HasPrefix(a.Message, "Sign in again") {
				t.Errorf("%s ten minutes after the sign-in: got status %d, body %s; want 403 and a request to sign in again", name, a.Status, a.Raw)
			}
			w.owner.Must(name, in)
		}
		browser.Must("confirm_sign_in", fields{"password": password})
		browser.Must("rotate_webhook_secret", fields{"webhookId": hook, "force": true})
		for _, o := range s.Registry.All() {
			if o.Secret && !o.Recent && o.Audience != op.Public && !o.Audience.NeedsNoAccount() {
				t.Errorf("%s returns a secret but requires no recent sign-in: add op.Recent", o.Name)
			}
		}
	})
}

// Every export has a file name that describes its content and ends with the date.
func TestDownloadsHaveDescriptiveNames(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.owner.Must("update_board", fields{"boardId": w.board, "name": `Büro "A/B"`})
		day := s.DB.Now().UTC().Format(board.DateLayout)
		for name, want := range map[string]string{
			"export_board": `attachment; filename="B_ro -A-B- ` + day + `.json"; filename*=utf-8''B%C3%BCro%20-A-B-%20` +
				day + `.json`,
			"export_workspace":    `attachment; filename="Engines (workspace) ` + day + `.json"`,
			"export_audit_csv":    `attachment; filename="Engines audit log ` + day + `.csv"`,
			"export_audit_ndjson": `attachment; filename="Engines audit log ` + day + `.ndjson"`,
		} {
			in := fields{"workspaceId": w.workspace}
			if name == "export_board" {
				in = fields{"boardId": w.board}
			}
			if got := w.owner.Must(name, in).Header.Get("Content-Disposition"); got != want {
				t.Errorf("%s: Content-Disposition is\n%s, want\n%s", name, got, want)
			}
		}
		refused := w.other.Call("export_audit_csv", fields{"workspaceId": w.workspace})
		if got := refused.Header.Get("Content-Disposition"); refused.Status/100 == 2 || got != "" {
			t.Errorf("export_audit_csv by a member: got status %d and the header %q; want an error without a file name", refused.Status, got)
		}
	})
}
