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

// clinic is a board with some of everything that Examine checks.
type clinic struct {
	*apptest.Service
	board, other, list, card, item, webhook string
}

func newClinic(t *testing.T, database string) *clinic {
	t.Helper()
	s := apptest.New(t, database, apptest.Options{})
	ada := s.Person("Ada")
	workspace := ada.Workspace("Engines", "team")
	c := &clinic{Service: s}
	c.webhook = s.Listener(workspace, "")
	c.board = ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
	c.other = ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Other"}).ID()
	c.list = ada.Must("create_list", apptest.Fields{"boardId": c.board, "name": "To do"}).ID()
	for i := range 90 { // more texts than the backlog of SQLite's full-text index
		c.card = ada.Must("create_card", apptest.Fields{"listId": c.list, "title": fmt.Sprintf("Card %d paint", i),
			"description": "The hull."}).ID()
	}
	checklist := ada.Must("add_checklist", apptest.Fields{"cardId": c.card, "title": "Before"}).ID()
	for _, title := range []string{"sand", "prime"} {
		c.item = ada.Must("add_checklist_item", apptest.Fields{"checklistId": checklist, "title": title}).ID()
	}
	ada.Must("add_comment", apptest.Fields{"cardId": c.card, "text": "Red, please."})
	if _, err := s.DB.LeaseShards(t.Context(), "srv_now", []int{1}, time.Minute); err != nil {
		t.Fatal(err)
	}
	s.CheckConsistency()
	return c
}

func (c *clinic) lines() (lines []string) {
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

// For each kind of defect, Examine reports that defect and nothing else. Repair fixes
// it, or the finding says what to do instead.
func TestDoctorFindsAndRepairs(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newClinic(t, database)
		fill := strings.NewReplacer("BOARD", c.board, "OTHER", c.other, "LIST", c.list, "CARD", c.card, "ITEM", c.item, "WEBHOOK", c.webhook)
		someDelivery := "(SELECT min(id) FROM deliveries)"
		for _, broken := range []struct {
			how, want string
			undo      string // restores what Repair must not change
			lite      bool   // only SQLite
			post      bool   // only PostgreSQL
		}{
			{how: "UPDATE boards SET open_cards = open_cards + 1 WHERE id = 'BOARD'", want: "board BOARD: the number of open cards is wrong"},
			{how: "UPDATE boards SET all_cards = 0 WHERE id = 'BOARD'", want: "board BOARD: the number of cards is wrong"},
			{how: "UPDATE boards SET open_lists = 7 WHERE id = 'BOARD'", want: "board BOARD: the number of open lists is wrong"},
			{how: "UPDATE boards SET text_bytes = text_bytes + 1 WHERE id = 'BOARD'", want: "board BOARD: the size of its contents is wrong"},
			{how: "UPDATE boards SET activity_bytes = 0 WHERE id = 'BOARD'", want: "board BOARD: the size of its contents is wrong"},
			{how: "UPDATE boards SET next_number = 3 WHERE id = 'BOARD'", want: "board BOARD: the next card number is already in use"},
			{how: "UPDATE cards SET comments = 5 WHERE id = 'CARD'", want: "card CARD: the number of comments is wrong"},
			{how: "UPDATE cards SET items_total = 0 WHERE id = 'CARD'", want: "card CARD: the number of checklist items is wrong"},
			{how: "UPDATE cards SET items_done = 2 WHERE id = 'CARD'", want: "card CARD: the number of completed checklist items is wrong"},
			{how: "UPDATE boards SET version = version - 1 WHERE id = 'BOARD'",
				want: "board BOARD: its version is lower than that of its last change"},
			{how: "UPDATE boards SET version = version + 1 WHERE id = 'BOARD'", want: "board BOARD: its most recent changes are missing",
				undo: "UPDATE boards SET version = version - 1 WHERE id = 'BOARD'"},
			{how: "UPDATE activity SET version = 1000 WHERE board_id = 'BOARD' AND version = 2",
				want: "board BOARD: the sequence of its changes has gaps",
				undo: "UPDATE activity SET version = 2 WHERE board_id = 'BOARD' AND version = 1000; UPDATE boards SET version = (SELECT " +
					"max(version) FROM activity WHERE board_id = 'BOARD') WHERE id = 'BOARD'"},
			{how: "UPDATE deliveries SET version = 900 WHERE id = " + someDelivery, want: "its version is higher than the " +
				"version of its board", undo: "UPDATE deliveries SET version = 1 WHERE version = 900"},
			{how: "UPDATE cards SET rank = '!' || rank WHERE id = 'CARD'", want: "in LIST: the rank of one card is invalid"},
			{how: "UPDATE cards SET rank = '!a0' WHERE id = 'CARD'", want: "in LIST: the rank of one card is invalid"},
			{how: "UPDATE cards SET rank = 'a0' || substr('" + strings.Repeat("V", 60) + "', 1) WHERE id = 'CARD'",
				want: "in LIST: the rank of one card is invalid or too long"},
			{how: "UPDATE lists SET rank = 'a 0' WHERE id = 'LIST'", want: "in BOARD: the rank of one list is invalid"},
			{how: "UPDATE checklist_items SET rank = '' WHERE id = 'ITEM'", want: "the rank of one item is invalid"},
			{how: "DROP INDEX cards_rank; UPDATE cards SET rank = (SELECT max(rank) FROM cards) WHERE id = 'CARD'",
				want: "in LIST: two cards have the same rank"},
			{how: "CREATE UNIQUE INDEX cards_rank ON cards (list_id, rank)"}, // succeeds, so Repair has removed the duplicate
			{how: "UPDATE cards SET board_id = 'OTHER', number = 1 WHERE id = 'CARD'", want: "card CARD: its list is on " +
				"another board", undo: "UPDATE cards SET board_id = 'BOARD', number = 90 WHERE id = 'CARD'; UPDATE boards " +
				"SET all_cards = 90, open_cards = 90 WHERE id = 'BOARD'; UPDATE boards SET all_cards = 0, open_cards = 0, next_number = 1 " +
				"WHERE id = 'OTHER'; UPDATE boards SET counted_at = NULL"},
			{how: "INSERT INTO labels (id, board_id, name, color, created_at, updated_at) VALUES ('lbl_x', 'OTHER', 'x', 'red', 1, 1); " +
				"INSERT INTO card_labels (card_id, label_id) VALUES ('CARD', 'lbl_x')", want: "card CARD: it has a label of " +
				"another board", undo: "DELETE FROM card_labels"},
			{how: "UPDATE workspace_members SET role = 'admin'", want: "it has no owner", undo: "UPDATE workspace_members SET role = 'owner'"},
			{how: "UPDATE deliveries SET due_at = NULL WHERE id = " + someDelivery, want: "it is waiting, but no attempt is scheduled"},
			{how: "UPDATE deliveries SET status = 'delivered' WHERE id = " + someDelivery, want: "it has ended, but another attempt is scheduled"},
			{how: "UPDATE deliveries SET ended_at = 5 WHERE due_at IS NOT NULL AND id = (SELECT max(id) FROM deliveries)",
				want: "its end time contradicts its status"},
			{how: "UPDATE deliveries SET status = 'lost' WHERE id = " + someDelivery, want: "its status is unknown",
				undo: "UPDATE deliveries SET status = 'delivered' WHERE status = 'lost'"},
			{how: "INSERT INTO leases (name, holder, until) VALUES ('x', 'srv_x', 5)", want: "lease x: it expired more than a day ago"},
			{how: "INSERT INTO leases (name, holder, until) VALUES ('y', 'srv_x', 9999999999999)",
				want: "lease y: it expires more than a day from now"},
			{how: "INSERT INTO automation_boards (board_id, handled, holder, until) VALUES ('BOARD', 1, 'srv_x', 9999999999999)",
				want: "board BOARD: the lease on its rules expires more than a day from now"},
			{how: "UPDATE cards SET title = 'Varnish' WHERE id = 'CARD'", want: "card CARD: its texts in the search index are out of date"},
			{how: "DELETE FROM texts WHERE card_id = 'CARD' AND place = 'comment'",
				want: "card CARD: its texts in the search index are out of date"},
			{how: "INSERT INTO texts (card_id, place, ref, words) VALUES ('CARD', 'comment', 'cmt_x', ' more ')",
				want: "card CARD: its texts in the search index are out of date"},
			{how: "UPDATE texts SET workspace_id = 'wsp_x' WHERE card_id = 'CARD'", want: "card CARD: its texts are indexed under " +
				"another workspace", post: true},
			{how: "INSERT INTO users (id, name, time_zone, created_at) VALUES ('usr_x', 'X', 'UTC', 1); INSERT INTO card_assignees " +
				"(card_id, user_id, assigned_at) VALUES ('CARD', 'usr_x', 1); DELETE FROM former_members",
				want: "its dashboard does not show the cards of a deleted account"},
			{how: "DELETE FROM texts_words WHERE rowid = 5; INSERT INTO texts_words (rowid, words) VALUES (5, 'elsewhere7paint')",
				want: "search: 1 texts are in the full-text index under another workspace", lite: true},
			{how: "DELETE FROM texts_words WHERE rowid IN (5, 6)", want: "search: 2 texts are missing from the full-text index", lite: true},
			{how: "UPDATE texts_words_data SET block = substr(block, 1, length(block) - 9) || zeroblob(9) WHERE id = (SELECT max(id) " +
				"FROM texts_words_data)", want: "database file: ", lite: true},
			{how: "PRAGMA writable_schema = ON; CREATE INDEX broken ON labels (name); UPDATE sqlite_schema SET sql = 'CREATE INDEX broken " +
				"ON labels (color)' WHERE name = 'broken'; PRAGMA writable_schema = RESET", want: "missing from index broken", lite: true},
		} {
			if broken.lite && sqldb.IsPostgres(database) || broken.post && !sqldb.IsPostgres(database) {
				continue
			}
			if err := dbtool.Damage(t.Context(), database, strings.Split(fill.Replace(broken.how), "; ")...); err != nil {
				t.Fatalf("%s: %v", broken.how, err)
			}
			lines := c.lines()
			want := fill.Replace(broken.want)
			if want != "" && (len(lines) == 0 || !strings.Contains(strings.Join(lines, "\n"), want)) {
				t.Errorf("%s: the doctor says %q, want %q", broken.how, lines, want)
			}
			offered := slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) && strings.Contains(l, "doctor --repair") })
			if want != "" && offered != (broken.undo == "") {
				t.Errorf("%s: repair is offered: %v (%q)", broken.how, offered, lines)
			}
			if _, err := dbtool.Repair(t.Context(), c.DB); err != nil {
				t.Errorf("%s: repair: %v", broken.how, err)
			}
			if broken.undo != "" {
				if lines := c.lines(); !strings.Contains(strings.Join(lines, "\n"), want) {
					t.Errorf("%s: after the repair the doctor says %q, want still %q", broken.how, lines, want)
				}
				if err := dbtool.Damage(t.Context(), database, strings.Split(fill.Replace(broken.undo), "; ")...); err != nil {
					t.Fatalf("%s: %v", broken.undo, err)
				}
			}
			if lines := c.lines(); len(lines) > 0 {
				t.Fatalf("%s: the doctor still says %q", broken.how, lines)
			}
		}
		if got := c.Column("SELECT title FROM cards WHERE id = $1", c.card); !slices.Equal(got, []string{"Varnish"}) {
			t.Errorf("the card is %q", got)
		}
	})
}

// Repairing ranks keeps the order of the cards.
func TestRepairKeepsTheOrder(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newClinic(t, database)
		order := "SELECT id FROM cards ORDER BY rank"
		before := c.Column(order)
		if err := dbtool.Damage(t.Context(), database, "UPDATE cards SET rank = rank || '0' WHERE number > 40"); err != nil {
			t.Fatal(err)
		}
		if n, err := dbtool.Repair(t.Context(), c.DB); err != nil || n != 1 {
			t.Errorf("repaired %d: %v", n, err)
		}
		if after := c.Column(order); !slices.Equal(after, before) {
			t.Errorf("the order was %v and is %v", before, after)
		}
		c.CheckConsistency()
	})
}

// A secret that was encrypted with a key that this server does not have.
func TestDoctorFindsSecretsWithoutKey(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		c := newClinic(t, database)
		other, err := seal.Parse(seal.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		c.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return affect(ctx, tx, "UPDATE webhooks SET secret = $1 WHERE id = $2", other.Seal("webhook:"+c.webhook+":secret",
				[]byte("x")), c.webhook)
		})
		lines := c.lines()
		if len(lines) != 1 || !strings.Contains(lines[0], c.webhook) || !strings.Contains(lines[0], "no key of this server can decrypt it") {
			t.Errorf("the doctor says %q", lines)
		}
		if n, err := dbtool.Repair(t.Context(), c.DB); n != 0 || err != nil {
			t.Errorf("repaired %d: %v", n, err)
		}
	})
}

// Examine finds a row without its parent for every foreign key. Repair deletes the row or clears
// its reference, if the schema allows that.
func TestOrphansOfEveryRelation(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		lite := database
		if sqldb.IsPostgres(database) {
			lite = filepath.Join(t.TempDir(), "cardwall.db")
		}
		full(t, lite)
		if lite != database {
			relocate(t, lite, database)
		}
		db := apptest.OpenStore(t, database)
		if found, err := dbtool.Orphans(t.Context(), db); err != nil || len(found) > 0 {
			t.Fatalf("before: %v %v", found, err)
		}
		want, err := dbtool.LoseEveryParent(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		if len(want) < 50 {
			t.Errorf("only %d relations", len(want))
		}
		found, err := dbtool.Orphans(t.Context(), db)
		if err != nil || !maps.Equal(found, want) {
			for what, repairable := range want {
				if got, there := found[what]; !there || got != repairable {
					t.Errorf("%s (repairable: %v) is not found", what, repairable)
				}
			}
			t.Errorf("found %d, want %d (%v)", len(found), len(want), err)
		}
		if err := dbtool.RepairOrphans(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		found, err = dbtool.Orphans(t.Context(), db)
		for what, repairable := range found {
			if repairable {
				t.Errorf("%s is found after the repair", what)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// damaged closes the database of a clinic and returns its path after a change of the
// file.
func (c *clinic) damaged(file string, change func(content []byte)) string {
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

// For a damaged file, the doctor recommends restoring a backup.
func TestDoctorOfADamagedFile(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cardwall.db"
	db := apptest.OpenStore(t, newClinic(t, file).damaged(file, func(content []byte) {
		at := bytes.Index(content, []byte("Card 44 paint"))
		if at < 0 {
			t.Fatal("the card is not in the file")
		}
		page := at / 4096 * 4096
		copy(content[page+8:page+64], strings.Repeat("\xff", 56)) // its array of cell pointers
	}))
	findings, err := dbtool.Examine(t.Context(), db)
	if err != nil || len(findings) == 0 || !strings.Contains(findings[0].String(), "restore the latest backup") {
		t.Errorf("the doctor says %v (%v)", findings, err)
	}
}

// Whichever page is damaged, Examine reports it together with the findings of the
// other checks, instead of returning an error.
func TestDoctorGoesOnAfterEachDamagedPage(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cardwall.db"
	c := newClinic(t, file)
	c.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		return affect(ctx, tx, "UPDATE boards SET all_cards = all_cards + 1 WHERE id = $1", c.board)
	})
	roots := c.Column(`SELECT CAST(rootpage AS TEXT) FROM sqlite_schema
		WHERE tbl_name IN ('cards', 'comments', 'deliveries', 'labels', 'texts', 'texts_words_data') AND rootpage > 0`)
	var whole []byte
	c.damaged(file, func(content []byte) { whole = slices.Clone(content) })
	stopped := 0
	for _, root := range roots {
		page, err := strconv.Atoi(root)
		if err != nil {
			t.Fatal(err)
		}
		content := slices.Clone(whole)
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
			t.Errorf("page %d: the doctor says %s", page, all)
		}
		if strings.Contains(all, "data cannot be read") {
			stopped++
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(roots) < 15 || stopped == 0 {
		t.Errorf("%d of %d damaged pages stopped a check", stopped, len(roots))
	}
}

// Two damaged tables and a wrong counter give three findings.
func TestDoctorFindsAllDamageAtOnce(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cardwall.db"
	c := newClinic(t, file)
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
	c.DB = apptest.OpenStore(t, c.damaged(file, func(content []byte) {
		for _, page := range pages {
			copy(content[(page-1)*4096:], strings.Repeat("\xff", 64))
		}
	}))
	all := strings.Join(c.lines(), "\n")
	for _, want := range []string{"table comments: ", "table checklist_items: ", "board " + c.board + ": the number of open lists is wrong"} {
		if !strings.Contains(all, want) {
			t.Errorf("the doctor does not say %q:\n%s", want, all)
		}
	}
}

// SQLite has no checksums. A changed character in a text is found by comparing the
// text with the search index.
func TestDoctorFindsDamageInsideTexts(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cardwall.db"
	c := newClinic(t, file)
	card := c.Column("SELECT id FROM cards WHERE title = 'Card 44 paint'")[0]
	c.DB = apptest.OpenStore(t, c.damaged(file, func(content []byte) {
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
				at = next // in the row of the card, not in its activity or in the index
			}
		}
		if at == 0 {
			t.Fatal("the row of the card is not in the file")
		}
		content[at-1] = 0xff
	}))
	want := "card " + card + ": its texts in the search index are out of date"
	if lines := c.lines(); len(lines) != 1 || !strings.Contains(lines[0], want) {
		t.Errorf("the doctor says %q, want %q", lines, want)
	}
}
