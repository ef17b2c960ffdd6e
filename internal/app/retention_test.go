package app_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

const year = 365 * 24 * time.Hour

// archivedLines returns the lines of one kind in an archive folder.
func archivedLines(t *testing.T, folder, kind string) (lines []map[string]any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, kind+"-*.ndjson.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		for s := bufio.NewScanner(z); s.Scan(); {
			var line map[string]any
			if err := json.Unmarshal(s.Bytes(), &line); err != nil {
				t.Fatalf("parse archive line %s: %v", s.Bytes(), err)
			}
			lines = append(lines, line)
		}
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

func TestRetention(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.owner.Must("update_card", fields{"cardId": w.card, "title": "Old title"})
		s.Clock.Advance(4 * year)
		version := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version").(float64)
		entries := len(s.Column("SELECT id FROM activity"))
		audit := len(s.Column("SELECT id FROM audit"))
		history := w.owner.All("list_board_activity", "type", fields{"boardId": w.board, "cardId": w.card})
		w.owner.Must("update_card", fields{"cardId": w.card, "title": "New title"})

		folder := filepath.Join(t.TempDir(), "archive")
		archive := app.NewFolderArchive(folder, s.Clock.Now())
		t.Cleanup(func() { _ = archive.Close() })
		retain := func(keep app.Retention) app.Retained {
			t.Helper()
			keep.Archive = archive
			done, err := app.Retain(t.Context(), s.DB, "srv_test", keep, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			s.CheckConsistency()
			return done
		}
		done := retain(app.Retention{Activity: board.Age(5 * year), Audit: board.Age(5 * year)})
		if done != (app.Retained{}) {
			t.Errorf("with a limit of five years: got %+v removed, want nothing", done)
		}
		done = retain(app.Retention{Activity: board.Age(3 * year), Audit: board.Age(2 * year)})
		left := len(s.Column("SELECT id FROM activity"))
		if done.Activity == 0 || left != entries+1-done.Activity || done.Audit != audit {
			t.Errorf("got %+v removed of %d activity entries and %d audit entries, and %d activity entries left; want all audit "+
				"entries and some activity entries removed", done, entries+1, audit, left)
		}
		// The archive contains exactly the removed entries.
		lines := archivedLines(t, folder, "activity")
		if len(lines) != done.Activity || len(archivedLines(t, folder, "audit")) != done.Audit {
			t.Errorf("got %d activity entries and %d audit entries in the archive, want %+v", len(lines),
				len(archivedLines(t, folder, "audit")), done)
		}
		if !slices.ContainsFunc(lines, func(line map[string]any) bool {
			return line["type"] == "list.created" && line["boardId"] == w.board &&
				line["changes"].(map[string]any)["name"] != nil
		}) {
			t.Errorf("the archive does not contain list.created; its first line is %v", lines[0])
		}
		// The history of a card is kept, except for comment entries, because the card shows its comments.
		history = slices.DeleteFunc(history, func(kind string) bool { return strings.HasPrefix(kind, "comment.") })
		wantStrings(t, "history of the card",
			w.owner.All("list_board_activity", "type", fields{"boardId": w.board, "cardId": w.card}),
			append([]string{"card.updated"}, history...)...)
		// A request for removed changes fails with a reason.
		for _, since := range []float64{0, 1} {
			a := w.owner.Call("list_board_changes", fields{"boardId": w.board, "since": since})
			if a.Code != board.CodeInvalidRequest || !strings.Contains(string(a.Raw), `"reason":"changes_removed"`) {
				t.Errorf("list_board_changes since %v: got status %d, body %s; want reason changes_removed", since, a.Status, a.Raw)
			}
		}
		changes := w.owner.Must("list_board_changes", fields{"boardId": w.board, "since": version})
		if changes.Get("0.boardVersion") != version+1 {
			t.Errorf("list_board_changes since %v: got %s, want version %v first", version, changes.Raw, version+1)
		}
		done = retain(app.Retention{Activity: board.Age(3 * year), Audit: board.Age(2 * year)})
		if done != (app.Retained{}) {
			t.Errorf("second call: got %+v removed, want nothing", done)
		}
		// CardHistory also limits the history of cards.
		if done := retain(app.Retention{CardHistory: board.Age(3 * year)}); done.Activity != left-1 {
			t.Errorf("with CardHistory: got %+v removed, want %d activity entries", done, left-1)
		}
		if n := len(archivedLines(t, folder, "activity")); n != entries {
			t.Errorf("got %d entries in the archive, want %d", n, entries)
		}
		if left := len(s.Column("SELECT id FROM activity")); left != 1 {
			t.Errorf("got %d entries left, want 1", left)
		}
		w.owner.Must("move_card", fields{"cardId": w.card, "listId": w.doing})
		s.CheckConsistency()
	})
}

func TestRetentionRemovesNothingIfTheArchiveFails(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		newWorld(s)
		before := len(s.Column("SELECT id FROM activity")) + len(s.Column("SELECT id FROM audit"))
		s.Clock.Advance(4 * year)
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		archive := app.NewFolderArchive(filepath.Join(file, "folder"), s.Clock.Now())
		keep := app.Retention{Activity: board.Age(year), Audit: board.Age(year), Archive: archive}
		if done, err := app.Retain(t.Context(), s.DB, "srv_test", keep, time.Minute); err == nil || done != (app.Retained{}) {
			t.Errorf("archive that cannot be written: got %+v removed, error %v; want nothing removed and an error", done, err)
		}
		if after := len(s.Column("SELECT id FROM activity")) + len(s.Column("SELECT id FROM audit")); after != before {
			t.Errorf("got %d rows left, want %d", after, before)
		}
	})
}

// writeInBetween is an archive that runs write each time it receives something.
type writeInBetween struct {
	app.Archive
	write func()
}

func (a writeInBetween) Write(ctx context.Context, kind string, lines [][]byte) error {
	a.write()
	return a.Archive.Write(ctx, kind, lines)
}

// A client can write while retention removes most of ten years of a board's activity: no transaction
// is open while entries are archived.
func TestRetentionLetsOthersWrite(t *testing.T) {
	t.Parallel()
	const rows = 10_000
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	w := newWorld(s)
	now := int64(board.InstantOf(s.Clock.Now()))
	apptest.Change(t, s.DB, `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $1 - 1)
		INSERT INTO activity (board_id, version, id, type, at, actor_type, actor_id, card_id, changes)
		SELECT $2, 1000 + i, printf('act_%022d', i), CASE WHEN i % 4 = 0 THEN 'card.updated' ELSE 'list.updated' END,
			$3 - (($1 - i) * $4), 'person', $5, CASE WHEN i % 4 <> 3 THEN printf('crd_%026d', i * 7919 % 20011) END,
			'{"title":{"from":"A title of a usual length","to":"Another title of a usual length"}}' FROM n`,
		rows, w.second, now, int64(10*year/time.Millisecond)/rows, w.owner.ID)
	apptest.Change(t, s.DB, "UPDATE boards SET version = $1, reduced_to = 999, removed_to = 999, counted_at = NULL WHERE id = $2",
		999+rows, w.second)
	if _, err := s.DB.CountStorage(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	archive := app.NewFolderArchive(t.TempDir(), s.Clock.Now())
	t.Cleanup(func() { _ = archive.Close() })
	writes := 0
	keep := app.Retention{CardHistory: board.Age(3 * year), Archive: writeInBetween{archive, func() {
		writes++
		w.owner.Must("update_card", fields{"cardId": w.card, "title": fmt.Sprint("Title ", writes)})
	}}}
	done, err := app.Retain(t.Context(), s.DB, "srv_test", keep, time.Hour)
	if err != nil || done.Activity < rows/2 {
		t.Errorf("got %d entries removed and error %v, want at least %d", done.Activity, err, rows/2)
	}
	if title := w.owner.Must("get_card", fields{"cardId": w.card}).Text("title"); writes == 0 || title != fmt.Sprint("Title ", writes) {
		t.Errorf("after %d writes, the card has the title %q", writes, title)
	}
	s.CheckConsistency()
}

// Jobs that ended before the limit are removed. Recent jobs and open jobs are kept.
func TestRetentionRemovesEndedJobs(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		now := int64(board.InstantOf(s.Clock.Now()))
		recently := now + (2 * 24 * time.Hour).Milliseconds()
		for id, ended := range map[string]any{"job_ended": now, "job_recent": recently, "job_open": nil} {
			// The lease keeps the test's server from running the open job.
			apptest.Change(t, s.DB, `INSERT INTO jobs (id, kind, state, owner_id, organization_id, workspace_id, name, caller,
				input, created_at, ended_at, until)
				SELECT $1, 'import', $2, $3, ws.organization_id, ws.id, 'Launch', '{}', '{}', $4, $5, $7
				FROM boards b JOIN workspaces ws ON ws.id = b.workspace_id WHERE b.id = $6`,
				id, map[bool]string{true: "running", false: "done"}[ended == nil], w.owner.ID, now, ended, w.board,
				now+(365*24*time.Hour).Milliseconds())
		}
		s.Clock.Advance(31 * 24 * time.Hour)
		all := len(s.Column("SELECT id FROM jobs"))
		keep := app.Retention{Jobs: board.Age(30 * 24 * time.Hour)}
		done, err := app.Retain(t.Context(), s.DB, "srv_test", keep, time.Minute)
		if err != nil || done.Jobs != all-2 {
			t.Fatalf("got %d jobs removed, error %v; want %d", done.Jobs, err, all-2)
		}
		wantStrings(t, "jobs", s.Column("SELECT id FROM jobs ORDER BY id"), "job_open", "job_recent")
	})
}
