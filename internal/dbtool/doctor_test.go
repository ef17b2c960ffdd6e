package dbtool_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/seal"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// doctorWorld is an installation whose records the tests damage. The fields are ids.
type doctorWorld struct {
	*apptest.Service
	board, otherBoard, list, card, item, webhook string
}

func newDoctorWorld(t *testing.T, database string) *doctorWorld {
	t.Helper()
	s := apptest.New(t, database, apptest.Options{})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", "team")
	c := &doctorWorld{Service: s}
	c.webhook = s.Listener(workspace, "")
	c.board = ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
	c.otherBoard = ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Other"}).ID()
	c.list = ada.Must("create_list", apptest.Fields{"boardId": c.board, "name": "To do"}).ID()
	for i := range 90 { // more entries than the backlog of SQLite's full-text index can hold
		c.card = ada.Must("create_card", apptest.Fields{"listId": c.list, "title": fmt.Sprintf("Card %d paint", i),
			"description": "The hull."}).ID()
	}
	checklist := ada.Must("add_checklist", apptest.Fields{"cardId": c.card, "title": "Before"}).ID()
	for _, title := range []string{"sand", "prime"} {
		c.item = ada.Must("add_checklist_item", apptest.Fields{"checklistId": checklist, "title": title}).ID()
	}
	ada.Must("add_comment", apptest.Fields{"cardId": c.card, "text": "Red, please."})
	if _, err := s.DB.LeaseShards(t.Context(), "srv_1", []int{1}, time.Minute); err != nil {
		t.Fatal(err)
	}
	s.CheckConsistency()
	return c
}

// examine returns the findings of Examine as text.
func (c *doctorWorld) examine() (lines []string) {
	c.T.Helper()
	findings, err := dbtool.Examine(c.T.Context(), c.DB)
	if err != nil {
		c.T.Fatal(err)
	}
	for _, f := range findings {
		lines = append(lines, f.String())
	}
	return lines
}

// Examine reports each kind of defect. Repair fixes the defect, or the finding names
// another remedy. After that, Examine reports nothing.
func TestDoctorFindsAndRepairs(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newDoctorWorld(t, database)
		fill := strings.NewReplacer("BOARD", c.board, "OTHER", c.otherBoard, "LIST", c.list, "CARD", c.card, "ITEM", c.item, "WEBHOOK", c.webhook)
		someDelivery := "(SELECT min(id) FROM deliveries)"
		for _, defect := range []struct {
			cause        string        // SQL statements
			want         string        // part of the expected finding; "" if none is expected
			undo         string        // SQL statements that undo a defect that Repair must not change
			choice       dbtool.Choice // without this choice, Repair must not change the defect
			sqliteOnly   bool
			postgresOnly bool
		}{
			{cause: "UPDATE boards SET open_cards = open_cards + 1 WHERE id = 'BOARD'", want: "board BOARD: the number of open cards is wrong"},
			{cause: "UPDATE boards SET done_cards = done_cards + 1 WHERE id = 'BOARD'", want: "board BOARD: the number of done cards is wrong"},
			{cause: "UPDATE boards SET all_cards = 0 WHERE id = 'BOARD'", want: "board BOARD: the number of cards is wrong"},
			{cause: "UPDATE boards SET open_lists = 7 WHERE id = 'BOARD'", want: "board BOARD: the number of open lists is wrong"},
			{cause: "UPDATE boards SET text_bytes = text_bytes + 1 WHERE id = 'BOARD'", want: "board BOARD: the size of its content is wrong"},
			{cause: "UPDATE boards SET activity_bytes = 0 WHERE id = 'BOARD'", want: "board BOARD: the size of its content is wrong"},
			{cause: "UPDATE boards SET next_number = 3 WHERE id = 'BOARD'", want: "board BOARD: the next card number is already in use"},
			{cause: "UPDATE cards SET comments = 5 WHERE id = 'CARD'", want: "card CARD: the number of comments is wrong"},
			{cause: "UPDATE cards SET attachments = 5 WHERE id = 'CARD'", want: "card CARD: the number of attachments is wrong"},
			{cause: "UPDATE cards SET items_total = 0 WHERE id = 'CARD'", want: "card CARD: the number of checklist items is wrong"},
			{cause: "UPDATE cards SET items_done = 2 WHERE id = 'CARD'", want: "card CARD: the number of completed checklist items is wrong"},
			{cause: "UPDATE boards SET version = version - 1 WHERE id = 'BOARD'",
				want: "board BOARD: its version is lower than that of its last change"},
			{cause: "UPDATE boards SET version = version + 1 WHERE id = 'BOARD'", want: "board BOARD: its most recent changes are missing",
				undo: "UPDATE boards SET version = version - 1 WHERE id = 'BOARD'"},
			{cause: "UPDATE activity SET version = 1000 WHERE board_id = 'BOARD' AND version = 2",
				want: "board BOARD: the sequence of its changes has gaps",
				undo: "UPDATE activity SET version = 2 WHERE board_id = 'BOARD' AND version = 1000; UPDATE boards SET version = (SELECT " +
					"max(version) FROM activity WHERE board_id = 'BOARD') WHERE id = 'BOARD'"},
			{cause: "UPDATE deliveries SET version = 900 WHERE id = " + someDelivery, want: "its version is higher than the " +
				"version of its board", undo: "UPDATE deliveries SET version = 1 WHERE version = 900"},
			{cause: "UPDATE cards SET rank = '!' || rank WHERE id = 'CARD'", want: "in LIST: the rank of one card is invalid"},
			{cause: "UPDATE cards SET rank = '!a0' WHERE id = 'CARD'", want: "in LIST: the rank of one card is invalid"},
			{cause: "UPDATE cards SET rank = 'a0' || substr('" + strings.Repeat("V", 60) + "', 1) WHERE id = 'CARD'",
				want: "in LIST: the rank of one card is invalid or too long"},
			{cause: "UPDATE lists SET rank = 'a 0' WHERE id = 'LIST'", want: "in BOARD: the rank of one list is invalid"},
			{cause: "UPDATE checklist_items SET rank = '' WHERE id = 'ITEM'", want: "the rank of one item is invalid"},
			{cause: "DROP INDEX cards_rank; UPDATE cards SET rank = (SELECT max(rank) FROM cards) WHERE id = 'CARD'",
				want: "in LIST: two cards have the same rank"},
			{cause: "CREATE UNIQUE INDEX cards_rank ON cards (list_id, rank)"}, // fails unless Repair has removed the duplicate
			{cause: "UPDATE cards SET board_id = 'OTHER', number = 1 WHERE id = 'CARD'", want: "card CARD: its list is on " +
				"another board", undo: "UPDATE cards SET board_id = 'BOARD', number = 90 WHERE id = 'CARD'; UPDATE boards " +
				"SET all_cards = 90, open_cards = 90 WHERE id = 'BOARD'; UPDATE boards SET all_cards = 0, open_cards = 0, next_number = 1 " +
				"WHERE id = 'OTHER'; UPDATE boards SET counted_at = NULL"},
			{cause: "INSERT INTO labels (id, board_id, name, color, created_at, updated_at) VALUES ('lbl_x', 'OTHER', 'x', 'red', 1, 1); " +
				"INSERT INTO card_labels (card_id, label_id) VALUES ('CARD', 'lbl_x')", want: "card CARD: it has a label of " +
				"another board", undo: "DELETE FROM card_labels"},
			{cause: "UPDATE board_summaries SET unplanned = unplanned + 1 WHERE board_id = 'BOARD'",
				want: "board BOARD: the summary for reports is wrong"},
			{cause: "UPDATE board_summaries SET counts = (SELECT s.counts FROM board_summaries s WHERE s.board_id = 'OTHER') WHERE " +
				"board_id = 'BOARD'", want: "board BOARD: the summary for reports is wrong"},
			{cause: "UPDATE boards SET background = 'x' WHERE id = 'BOARD'", want: "board BOARD: its picture is missing"},
			{cause: "UPDATE users SET avatar = 'x'", want: ": its picture is missing"},
			{cause: "UPDATE workspace_members SET role = 'admin'", want: "it has no owner", undo: "UPDATE workspace_members SET role = 'owner'"},
			{cause: "UPDATE deliveries SET due_at = NULL WHERE id = " + someDelivery, want: "it is waiting, but no attempt is scheduled"},
			{cause: "UPDATE deliveries SET status = 'delivered' WHERE id = " + someDelivery, want: "it has ended, but another attempt is scheduled"},
			{cause: "UPDATE deliveries SET ended_at = 5 WHERE due_at IS NOT NULL AND id = (SELECT max(id) FROM deliveries)",
				want: "its end time contradicts its status"},
			{cause: "UPDATE deliveries SET status = 'lost' WHERE id = " + someDelivery, want: "its status is unknown",
				undo: "UPDATE deliveries SET status = 'delivered' WHERE status = 'lost'"},
			{cause: "INSERT INTO leases (name, holder, until) VALUES ('x', 'srv_x', 5)", want: "lease x: it expired more than a day ago"},
			{cause: "INSERT INTO leases (name, holder, until) VALUES ('y', 'srv_x', 9999999999999)",
				want: "lease y: it expires more than a day from now"},
			{cause: "INSERT INTO automation_boards (board_id, handled, holder, until) VALUES ('BOARD', 1, 'srv_x', 9999999999999)",
				want: "board BOARD: the lease for its rules expires more than a day from now"},
			{cause: "UPDATE cards SET title = 'Varnish' WHERE id = 'CARD'", choice: dbtool.Reindex,
				want: "title of card CARD: the text and the search index differ"},
			{cause: "DELETE FROM texts WHERE card_id = 'CARD' AND place = 'description'", choice: dbtool.Reindex,
				want: "description of card CARD: the text and the search index differ"},
			{cause: "INSERT INTO texts (card_id, place, ref, words) VALUES ('CARD', 'comment', 'cmt_x', ' more ')", choice: dbtool.Reindex,
				want: "comment cmt_x of card CARD: the text and the search index differ"},
			{cause: "UPDATE cards SET description = 'PR을 백업을' WHERE id = 'CARD'; UPDATE texts SET words = ' pr을 백업을 ' " +
				"WHERE card_id = 'CARD' AND place = 'description'", want: "card CARD: its search index entries have the form of an earlier version"},
			{cause: "UPDATE texts SET workspace_id = 'wsp_x' WHERE card_id = 'CARD'", want: "card CARD: its search index entries belong to " +
				"another workspace", postgresOnly: true},
			{cause: "INSERT INTO users (id, name, time_zone, created_at) VALUES ('usr_x', 'X', 'UTC', 1); INSERT INTO card_assignees " +
				"(card_id, user_id, assigned_at) VALUES ('CARD', 'usr_x', 1); DELETE FROM former_members",
				want: "its dashboard does not show the cards of a deleted account"},
			{cause: "DELETE FROM texts_words WHERE rowid = 5; INSERT INTO texts_words (rowid, words) VALUES (5, 'elsewhere7paint')",
				want: "search: 1 entries are in the full-text index under another workspace", sqliteOnly: true},
			{cause: "DELETE FROM texts_words WHERE rowid IN (5, 6)",
				want: "search: 2 entries are missing from the full-text index", sqliteOnly: true},
			{cause: "UPDATE texts_words_data SET block = substr(block, 1, length(block) - 9) || zeroblob(9) WHERE id = (SELECT max(id) " +
				"FROM texts_words_data)", want: "database file: ", sqliteOnly: true},
			{cause: "PRAGMA writable_schema = ON; CREATE INDEX broken ON labels (name); UPDATE sqlite_schema SET sql = 'CREATE INDEX broken " +
				"ON labels (color)' WHERE name = 'broken'; PRAGMA writable_schema = RESET", want: "missing from index broken",
				choice: dbtool.Reindex, sqliteOnly: true},
		} {
			if defect.sqliteOnly && sqldb.IsPostgres(database) || defect.postgresOnly && !sqldb.IsPostgres(database) {
				continue
			}
			if strings.Contains(defect.cause, "board_summaries") {
				if err := c.DB.KeepSummaries(t.Context(), []string{c.board, c.otherBoard}); err != nil {
					t.Fatal(err)
				}
			}
			if err := dbtool.Damage(t.Context(), database, strings.Split(fill.Replace(defect.cause), "; ")...); err != nil {
				t.Fatalf("%s: %v", defect.cause, err)
			}
			lines := c.examine()
			want := fill.Replace(defect.want)
			if want != "" && (len(lines) == 0 || !strings.Contains(strings.Join(lines, "\n"), want)) {
				t.Errorf("%s: got findings %q, want %q", defect.cause, lines, want)
			}
			offered := slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) && strings.Contains(l, "doctor --repair") })
			if want != "" && offered != (defect.undo == "") {
				t.Errorf("%s: got repair offered = %v, want %v; findings %q", defect.cause, offered, defect.undo == "", lines)
			}
			if _, err := dbtool.Repair(t.Context(), c.DB, dbtool.RepairOptions{}); err != nil {
				t.Errorf("%s: repair: %v", defect.cause, err)
			}
			if defect.choice != "" {
				c.repairByChoice(defect.choice, want)
			}
			if defect.undo != "" {
				if lines := c.examine(); !strings.Contains(strings.Join(lines, "\n"), want) {
					t.Errorf("%s: got findings %q after the repair, want %q to remain", defect.cause, lines, want)
				}
				if err := dbtool.Damage(t.Context(), database, strings.Split(fill.Replace(defect.undo), "; ")...); err != nil {
					t.Fatalf("%s: %v", defect.undo, err)
				}
			}
			if lines := c.examine(); len(lines) > 0 {
				t.Fatalf("%s: got findings %q after the repair or undo, want none", defect.cause, lines)
			}
		}
		if got := c.Column("SELECT title FROM cards WHERE id = $1", c.card); !slices.Equal(got, []string{"Varnish"}) {
			t.Errorf("got title %q, want Varnish", got)
		}
	})
}

// Repairing ranks keeps the order of the cards.
func TestRepairKeepsOrder(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newDoctorWorld(t, database)
		order := "SELECT id FROM cards ORDER BY rank"
		before := c.Column(order)
		if err := dbtool.Damage(t.Context(), database, "UPDATE cards SET rank = rank || '0' WHERE number > 40"); err != nil {
			t.Fatal(err)
		}
		if n, err := dbtool.Repair(t.Context(), c.DB, dbtool.RepairOptions{}); err != nil || n != 1 {
			t.Errorf("got %d repairs (%v), want 1", n, err)
		}
		if after := c.Column(order); !slices.Equal(after, before) {
			t.Errorf("got order %v, want %v", after, before)
		}
		c.CheckConsistency()
	})
}

// Examine reports a secret if this server does not have the key under which it is sealed.
func TestDoctorFindsSecretsWithoutKey(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newDoctorWorld(t, database)
		other, err := seal.Parse(seal.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		c.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return affect(ctx, tx, "UPDATE webhooks SET secret = $1 WHERE id = $2", other.Seal("webhook:"+c.webhook+":secret",
				[]byte("x")), c.webhook)
		})
		lines := c.examine()
		if len(lines) != 1 || !strings.Contains(lines[0], c.webhook) || !strings.Contains(lines[0], "no key of this server can decrypt it") {
			t.Errorf("got findings %q, want one about the secret of %s", lines, c.webhook)
		}
		if n, err := dbtool.Repair(t.Context(), c.DB, dbtool.RepairOptions{}); n != 0 || err != nil {
			t.Errorf("got %d repairs (%v), want 0", n, err)
		}
	})
}

// For every foreign key, Examine finds a row whose parent does not exist. Repair deletes the row or
// clears its reference, if the schema allows that.
func TestOrphansOfEveryRelation(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		file := database
		if sqldb.IsPostgres(database) {
			file = filepath.Join(t.TempDir(), "cardwall.db")
		}
		createFull(t, file)
		if file != database {
			relocate(t, file, database)
		}
		db := apptest.OpenStore(t, database)
		if found, err := dbtool.Orphans(t.Context(), db); err != nil || len(found) > 0 {
			t.Fatalf("got orphans %v (%v) before the damage, want none", found, err)
		}
		want, err := dbtool.OrphanEveryRelation(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < 50 {
			t.Errorf("got %d relations, want at least 50", len(want))
		}
		found, err := dbtool.Orphans(t.Context(), db)
		if err != nil || !maps.Equal(found, want) {
			for problem, repairable := range want {
				if got, ok := found[problem]; !ok || got != repairable {
					t.Errorf("finding %q with repairable = %v is missing", problem, repairable)
				}
			}
			t.Errorf("got %d orphans (%v), want %d", len(found), err, len(want))
		}
		if err := dbtool.RepairOrphans(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		found, err = dbtool.Orphans(t.Context(), db)
		for problem, repairable := range found {
			if repairable {
				t.Errorf("finding %q remains after the repair", problem)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// changeFile closes the database, changes the content of its file, and returns the path of
// the file.
func (c *doctorWorld) changeFile(file string, change func(content []byte)) string {
	c.T.Helper()
	if err := c.DB.Close(); err != nil {
		c.T.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		c.T.Fatal(err)
	}
	change(content)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		c.T.Fatal(err)
	}
	return file
}

// For a damaged file, Examine recommends restoring a backup.
func TestDoctorFindsDamagedFile(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cardwall.db"
	db := apptest.OpenStore(t, newDoctorWorld(t, file).changeFile(file, func(content []byte) {
		at := bytes.Index(content, []byte("Card 44 paint"))
		if at < 0 {
			t.Fatal("the title of the card is not in the file")
		}
		page := at / 4096 * 4096
		copy(content[page+8:page+64], strings.Repeat("\xff", 56)) // the cell pointer array of the page
	}))
	findings, err := dbtool.Examine(t.Context(), db)
	if err != nil || len(findings) == 0 || !strings.Contains(findings[0].String(), "restore the latest backup") {
		t.Errorf(`got findings %v (%v), want the remedy "restore the latest backup"`, findings, err)
	}
}

// For each damaged page, Examine reports the damage together with the findings of the
// other checks. It does not return an error.
func TestDoctorContinuesAfterEachDamagedPage(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cardwall.db"
	c := newDoctorWorld(t, file)
	c.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		return affect(ctx, tx, "UPDATE boards SET all_cards = all_cards + 1 WHERE id = $1", c.board)
	})
	roots := c.Column(`SELECT CAST(rootpage AS TEXT) FROM sqlite_schema
		WHERE tbl_name IN ('cards', 'comments', 'deliveries', 'labels', 'texts', 'texts_words_data') AND rootpage > 0`)
	var intact []byte
	c.changeFile(file, func(content []byte) { intact = slices.Clone(content) })
	stopped := 0
	for _, root := range roots {
		page, err := strconv.Atoi(root)
		if err != nil {
			t.Fatal(err)
		}
		content := slices.Clone(intact)
		copy(content[(page-1)*4096:], strings.Repeat("\xff", 64))
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		db := apptest.OpenStore(t, file)
		findings, err := dbtool.Examine(t.Context(), db)
		if err != nil {
			t.Errorf("page %d: %v", page, err)
			continue
		}
		var lines []string
		for _, f := range findings {
			lines = append(lines, f.String())
		}
		all := strings.Join(lines, "\n")
		if !strings.Contains(all, "restore the latest backup") || strings.Contains(all, "%s") {
			t.Errorf("page %d: got findings %s, want the remedy \"restore the latest backup\"", page, all)
		}
		if strings.Contains(all, "data cannot be read") {
			stopped++
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(roots) < 15 || stopped == 0 {
		t.Errorf("got %d pages of which %d stopped a check, want at least 15 and 1", len(roots), stopped)
	}
}

// Examine reports two damaged tables and a wrong counter together.
func TestDoctorFindsAllDamageAtOnce(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cardwall.db"
	c := newDoctorWorld(t, file)
	c.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		return affect(ctx, tx, "UPDATE boards SET open_lists = open_lists + 1 WHERE id = $1", c.board)
	})
	var pages []int
	for _, root := range c.Column(`SELECT CAST(rootpage AS TEXT) FROM sqlite_schema
		WHERE name IN ('comments', 'checklist_items')`) {
		page, err := strconv.Atoi(root)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	c.DB = apptest.OpenStore(t, c.changeFile(file, func(content []byte) {
		for _, page := range pages {
			copy(content[(page-1)*4096:], strings.Repeat("\xff", 64))
		}
	}))
	all := strings.Join(c.examine(), "\n")
	for _, want := range []string{"table comments: ", "table checklist_items: ", "board " + c.board + ": the number of open lists is wrong"} {
		if !strings.Contains(all, want) {
			t.Errorf("finding %q is missing in:\n%s", want, all)
		}
	}
}

// SQLite does not store checksums, so Examine finds a changed character by comparing the
// title with the search index.
func TestDoctorFindsDamagedText(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cardwall.db"
	c := newDoctorWorld(t, file)
	card := c.Column("SELECT id FROM cards WHERE title = 'Card 44 paint'")[0]
	c.DB = apptest.OpenStore(t, c.changeFile(file, func(content []byte) {
		title := []byte("Card 44 paint")
		at := 0
		for next := 0; ; {
			i := bytes.Index(content[next:], title)
			if i < 0 {
				break
			}
			next += i + len(title)
			row := content[max(0, next-200) : next-len(title)]
			inJSON := bytes.HasSuffix(row, []byte(`"`))
			if !inJSON && bytes.Contains(row, []byte(card)) && bytes.Contains(row, []byte(c.list)) {
				at = next // this is the row of the card, not its activity or the search index
			}
		}
		if at == 0 {
			t.Fatal("the row of the card is not in the file")
		}
		content[at-1] = 0xff
	}))
	want := "title of card " + card + ": the text and the search index differ, and either may be damaged; if the data is not what " +
		"people wrote, restore the latest backup"
	if lines := c.examine(); len(lines) != 1 || !strings.Contains(lines[0], want) {
		t.Errorf("got findings %q, want %q", lines, want)
	}
}

// The integrity check of SQLite uses the structure of the search index that its
// connection has cached, and reports segments that another connection has merged since
// as missing. Examine does not report them.
func TestDoctorChecksTheCurrentSearchIndex(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	row := 1 << 20 // far above the ids of the other rows; no other check reads these rows
	for round := range 10 {
		for range 8 { // each transaction adds a segment, and sixteen segments are merged into one
			row++
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				return tx.Raw().Exec(ctx, "INSERT INTO texts_words (rowid, words) VALUES ($1, 'engine')", row)
			})
		}
		if findings, err := dbtool.Examine(t.Context(), s.DB); err != nil || len(findings) > 0 {
			t.Fatalf("round %d: got findings %v, error %v; want none", round, findings, err)
		}
	}
}
