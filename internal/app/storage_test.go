package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// miscounted returns the ids of the boards whose storage counters do not match their rows.
func miscounted(s *apptest.Service) []string {
	s.T.Helper()
	return s.Column("SELECT b.id FROM boards b WHERE b.text_bytes <> " + store.BoardTextBytes() +
		" OR b.activity_bytes <> " + store.BoardActivityBytes())
}

// After each operation, the storage counters of every board match its rows.
func TestEveryOperationCountsStorage(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, o := range s.Registry.All() {
			if o.ReadOnly {
				continue
			}
			w.as(o).Must(o.Name, w.sample(t, o))
			if wrong := miscounted(s); len(wrong) > 0 {
				t.Errorf("after %s: got wrong counters on boards %v, want none", o.Name, wrong)
				apptest.Change(t, s.DB, "UPDATE boards AS b SET text_bytes = "+store.BoardTextBytes()+
					", activity_bytes = "+store.BoardActivityBytes())
			}
		}
	})
}

// storage returns the number of bytes that the organization uses.
func (w *world) storage() float64 {
	w.T.Helper()
	return w.owner.Must("get_organization", fields{"organizationId": w.organization()}).Get("storage.count").(float64)
}

func TestStorageCountsTextActivityAndTemplates(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		before := w.storage()
		card := w.make("create_card",
			fields{"listId": w.list, "title": "Ten bytes!", "description": strings.Repeat("ä", 5000)})
		added := w.storage() - before
		// The text is stored twice: in the card and in its activity entry.
		if added < 2*(10+10_000+board.RecordBytes) || added > 2*(10+10_000+board.RecordBytes)+400 {
			t.Errorf("card of 10,010 bytes: got %v bytes more, want about 20,500", added)
		}
		before = w.storage()
		comment := w.make("add_comment", fields{"cardId": card, "text": strings.Repeat("x", 9000)})
		w.owner.Must("delete_comment", fields{"commentId": comment})
		if left := w.storage() - before; left <= 0 || left > 1500 {
			t.Errorf("deleted comment: got %v bytes left, want only those of its activity", left)
		}
		// A move to another workspace of the same organization adds only activity.
		before = w.storage()
		otherWorkspace := anotherWorkspaceOf(w.owner, w.workspace, "Second")
		otherBoard := w.make("create_board", fields{"workspaceId": otherWorkspace, "name": "There"})
		list := w.make("create_list", fields{"boardId": otherBoard, "name": "Far"})
		w.owner.Must("move_card_to_board", fields{"cardId": card, "listId": list})
		if more := w.storage() - before; more > 15_000 {
			t.Errorf("move to another workspace: got %v bytes more, want at most 15,000", more)
		}
		before = w.storage()
		template := w.make("save_board_as_template", fields{"boardId": otherBoard, "includeCards": true})
		if more := w.storage() - before; more < 10_000 {
			t.Errorf("template with a long card: got %v bytes more, want at least 10,000", more)
		}
		w.owner.Must("delete_board_template", fields{"templateId": template})
		if more := w.storage() - before; more != 0 {
			t.Errorf("deleted template: got %v bytes left, want 0", more)
		}
		// Purging a board frees its storage.
		w.owner.Must("trash_board", fields{"boardId": otherBoard})
		before = w.storage()
		s.Clock.Advance(store.TrashLifetime + time.Hour)
		if _, err := app.Housekeep(t.Context(), s.DB, "srv_test"); err != nil {
			t.Fatal(err)
		}
		if freed := before - w.storage(); freed < 20_000 {
			t.Errorf("purged board: got %v bytes freed, want at least 20,000", freed)
		}
		s.CheckConsistency()
	})
}

func TestStorageQuota(t *testing.T) {
	t.Parallel()
	quotas := map[board.Plan]board.Bytes{board.PlanTeam: 200_000, board.PlanBusiness: 2_000_000}
	apptest.BothWith(t, apptest.Options{Storage: quotas}, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		long := strings.Repeat("x", 16_000)
		card := w.make("create_card", fields{"listId": w.list, "title": "Long", "description": long})
		comment := w.make("add_comment", fields{"cardId": card, "text": "A comment"})
		template := w.make("save_board_as_template", fields{"boardId": w.board})
		var refused apptest.Response
		for i := 0; refused.Code == ""; i++ {
			a := w.owner.Call("create_card", fields{"listId": w.list, "title": fmt.Sprint("Card ", i), "description": long})
			if a.Status >= 300 {
				refused = a
			}
			if i > 6 {
				t.Fatal("the quota is not enforced: seven long cards were accepted")
			}
		}
		if refused.Code != board.CodePlanLimit || refused.Status != 402 ||
			!strings.Contains(refused.Message, "(team) is limited to 200 kB of storage") {
			t.Errorf("over the quota: got status %d, body %s; want 402 plan_limit", refused.Status, refused.Raw)
		}
		usage := w.owner.Must("get_organization", fields{"organizationId": w.organization()})
		if usage.Get("storage.max") != 200_000.0 || usage.Get("storage.warnAt") != 180_000.0 ||
			usage.Get("plans.1.storageBytes") != 200_000.0 || usage.Get("storage.count").(float64) > 200_000 {
			t.Errorf("got usage %s, want at most 200,000 bytes and a warning at 180,000", usage.Raw)
		}
		// These comments fill the quota almost completely.
		for room := 200_000 - int(w.storage()); room > 2000; room = 200_000 - int(w.storage()) {
			w.owner.Must("add_comment", fields{"cardId": card, "text": strings.Repeat("y", min(room-1500, 16_000))})
		}
		over := strings.Repeat("z", 2500)
		for name, in := range map[string]fields{
			"create_card":                {"listId": w.list, "title": over[:500], "description": over},
			"add_comment":                {"cardId": card, "text": over},
			"edit_comment":               {"commentId": comment, "text": over},
			"copy_card":                  {"cardId": card, "listId": w.list},
			"copy_board":                 {"boardId": w.board, "name": over[:500]},
			"save_board_as_template":     {"boardId": w.board, "includeCards": true},
			"create_board_from_template": {"workspaceId": w.workspace, "templateId": template, "name": over[:500]},
			"update_board":               {"boardId": w.board, "description": over},
			"post_status_update":         {"boardId": w.board, "status": "on_track", "title": "Fine", "text": over},
		} {
			if name == "post_status_update" {
				w.owner.Must("update_board", fields{"boardId": w.board, "features": fields{"statusUpdates": true}})
			}
			if a := w.owner.Call(name, in); a.Code != board.CodePlanLimit {
				t.Errorf("%s over the quota: got status %d, body %s; want plan_limit", name, a.Status, a.Raw)
			}
		}
		// Operations that do not add text still work.
		w.owner.Must("get_card", fields{"cardId": card})
		w.owner.Must("move_card", fields{"cardId": card, "listId": w.doing})
		w.owner.Must("update_card", fields{"cardId": card, "done": true})
		w.owner.Must("update_card", fields{"cardId": card, "description": long[:10]})
		w.owner.Must("delete_comment", fields{"commentId": comment})
		w.owner.Must("delete_label", fields{"labelId": w.label})
		w.owner.Must("delete_checklist", fields{"checklistId": w.checklist})
		w.owner.Must("archive_card", fields{"cardId": card})
		w.owner.Must("trash_board", fields{"boardId": w.second})
		w.owner.Must("restore_board", fields{"boardId": w.second})
		// Other organizations are not affected. A larger plan takes effect immediately.
		grace := s.Person("Grace")
		grace.Must("create_board", fields{"workspaceId": grace.Workspace("Theirs", board.PlanTeam), "name": "Theirs"})
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.UpdateOrganization(ctx, w.organization(), new(board.PlanBusiness), nil)
		})
		w.owner.Must("create_card", fields{"listId": w.list, "title": "More", "description": long})
		s.CheckConsistency()
	})
}

// A server relies on its cached storage count only while the organization is far below its quota.
func TestStorageQuotaAcrossServers(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{Storage: map[board.Plan]board.Bytes{board.PlanTeam: 400_000}},
		func(t *testing.T, s *apptest.Service) {
			w := newWorld(s)
			text := strings.Repeat("x", 16_000)
			w.make("create_card", fields{"listId": w.list, "title": "Here", "description": text}) // caches the count
			// Another server uses most of the rest.
			apptest.Change(t, s.DB, "UPDATE boards SET text_bytes = text_bytes + 330000 WHERE id = $1", w.second)
			refused := 0
			for i := range 8 {
				a := w.owner.Call("create_card",
					fields{"listId": w.list, "title": fmt.Sprint("Card ", i), "description": text})
				if a.Code == board.CodePlanLimit {
					refused++
				}
			}
			if refused < 5 {
				t.Errorf("got %d of 8 cards refused, want at least 5", refused)
			}
			s.Clock.Advance(2 * time.Minute)
			if a := w.owner.Call("create_card",
				fields{"listId": w.list, "title": "Later", "description": text}); a.Code != board.CodePlanLimit {
				t.Errorf("after two minutes: got status %d, body %s; want plan_limit", a.Status, a.Raw)
			}
		})
}

// Boards without counts, such as those from before the migration, are counted in the background.
// Boards that have changed are counted again after a month.
func TestStorageIsCountedInTheBackground(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		want := w.storage()
		apptest.Change(t, s.DB, "UPDATE boards SET text_bytes = 0, activity_bytes = 0, counted_at = NULL")
		if n, err := s.DB.CountStorage(t.Context(), time.Minute); err != nil || n < 2 {
			t.Fatalf("got %d boards counted, error %v; want at least 2", n, err)
		}
		if got := w.storage(); got != want {
			t.Errorf("after counting: got %v bytes, want %v", got, want)
		}
		if n, err := s.DB.CountStorage(t.Context(), time.Minute); err != nil || n != 0 {
			t.Errorf("second run: got %d boards counted, error %v; want 0", n, err)
		}
		// Counting a changed board again corrects a wrong count.
		apptest.Change(t, s.DB, "UPDATE boards SET text_bytes = text_bytes + 7 WHERE id = $1", w.board)
		s.Clock.Advance(time.Hour)
		w.make("create_list", fields{"boardId": w.board, "name": "Late"})
		s.Clock.Advance(31 * 24 * time.Hour)
		if n, err := s.DB.CountStorage(t.Context(), time.Minute); err != nil || n != 1 || len(miscounted(s)) > 0 {
			t.Errorf("after a month: got %d boards counted, error %v, wrong counters on %v; want 1 and none", n, err,
				miscounted(s))
		}
	})
}
