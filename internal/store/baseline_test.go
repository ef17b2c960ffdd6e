package store_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// baseline is the schema version of Cardwall v0.2.1, with which the migrations begin.
const baseline = 51

// Migrations up to the baseline create the schema that v0.2.1 created. A hash of each
// object's definition stands for that schema. On PostgreSQL, it omits what only servers
// before v0.2.1 need, and the partitions, whose bounds depend on the time.
func TestMigrationsCreateTheBaseline(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		driver  string
		migrate func(*testing.T) (address string)
		query   string
		want    string
	}{
		"sqlite": {
			driver: "sqlite",
			migrate: func(t *testing.T) string {
				file := filepath.Join(t.TempDir(), "cardwall.db")
				if err := sqldb.MigrateFile(t.Context(), file, store.Migrations(), baseline); err != nil {
					t.Fatal(err)
				}
				return file
			},
			query: `SELECT type || ' ' || name || ' ' || sql FROM sqlite_schema WHERE sql IS NOT NULL AND (type IN ('index', 'trigger', 'view')
					OR name = 'texts_words')
				UNION ALL SELECT 'table ' || l.name || ' ' || l.strict || l.wr FROM pragma_table_list l WHERE ` + ownTables + `
				UNION ALL SELECT concat_ws(' ', 'column', l.name, c.cid, c.name, c.type, c."notnull", c.dflt_value, c.pk)
					FROM pragma_table_list l JOIN pragma_table_info(l.name) c WHERE ` + ownTables + `
				UNION ALL SELECT concat_ws(' ', 'reference', l.name, f."from", f."table", f."to", f.on_delete)
					FROM pragma_table_list l JOIN pragma_foreign_key_list(l.name) f WHERE ` + ownTables,
			want: "99e448919279eabaf63913241ce15cb3935a9c9488b9448cbac4cb9f39bfbe62",
		},
		"postgres": {
			driver: "pgx",
			migrate: func(t *testing.T) string {
				address := apptest.EmptyPostgresURL(t)
				if err := sqldb.MigratePostgres(t.Context(), address, store.Migrations(), baseline); err != nil {
					t.Fatal(err)
				}
				return address
			},
			query: `WITH own AS (SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND NOT relispartition
					AND relname NOT IN ('goose_db_version', 'migration_lease', 'letters'))
				SELECT concat_ws(' ', 'table', relname, relkind, relpersistence) FROM own WHERE relkind IN ('r', 'p', 'v')
				UNION ALL SELECT concat_ws(' ', 'column', relname, attnum, attname, format_type(atttypid, atttypmod), collname,
					attnotnull, attidentity, attstorage, pg_get_expr(adbin, adrelid))
					FROM own JOIN pg_attribute a ON attrelid = own.oid LEFT JOIN pg_attrdef ON adrelid = own.oid AND adnum = attnum
					LEFT JOIN pg_collation c ON c.oid = attcollation WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p')
				UNION ALL SELECT pg_get_indexdef(oid) || COALESCE(' ' || reloptions::text, '') FROM own WHERE relkind IN ('i', 'I')
				UNION ALL SELECT concat_ws(' ', 'constraint', relname, conname, pg_get_constraintdef(c.oid))
					FROM own JOIN pg_constraint c ON conrelid = own.oid
				UNION ALL SELECT pg_get_triggerdef(t.oid) FROM own JOIN pg_trigger t ON tgrelid = own.oid
					WHERE NOT tgisinternal AND tgname <> 'activity_comment_text'
				UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc
					WHERE pronamespace = 'public'::regnamespace AND proname <> 'activity_comment_text'`,
			want: "9b4567c9f27d90549d595adf28b95ea5bd67106bc285fa6c76980573015d9c83",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := sql.Open(test.driver, test.migrate(t))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			rows, err := db.QueryContext(t.Context(), test.query)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var objects []string
			for rows.Next() {
				var definition string
				if err := rows.Scan(&definition); err != nil {
					t.Fatal(err)
				}
				definition = strings.Join(strings.Fields(definition), " ")
				objects = append(objects, strings.NewReplacer(`"`, "", "( ", "(", " )", ")").Replace(definition))
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			slices.Sort(objects)
			text := strings.Join(objects, "\n")
			sum := sha256.Sum256([]byte(text))
			if got := hex.EncodeToString(sum[:]); got != test.want {
				t.Errorf("got hash %s, want %s; the objects are:\n%s", got, test.want, text)
			}
		})
	}
}

// Databases that a version before v0.2.1 created lose what only such versions needed.
func TestLeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	address := apptest.EmptyPostgresURL(t)
	if err := sqldb.MigratePostgres(t.Context(), address, store.Migrations(), baseline); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"CREATE VIEW letters AS SELECT id FROM emails",
		"CREATE INDEX texts_words ON texts (words)",
		"CREATE INDEX texts_by_workspace ON texts (workspace_id)",
		"CREATE FUNCTION activity_comment_text() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
		"CREATE TRIGGER activity_comment_text BEFORE INSERT ON activity FOR EACH ROW EXECUTE FUNCTION activity_comment_text()",
		"INSERT INTO settings (key, value) VALUES ('open_cards', 'missing')",
	} {
		if err := apptest.ExecPostgres(address, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if left := apptest.Select(t, apptest.OpenStore(t, address), `SELECT relname FROM pg_class
			WHERE relname IN ('letters', 'texts_words', 'texts_by_workspace')
		UNION ALL SELECT tgname FROM pg_trigger WHERE tgname = 'activity_comment_text'
		UNION ALL SELECT proname FROM pg_proc WHERE proname = 'activity_comment_text'
		UNION ALL SELECT key FROM settings WHERE key = 'open_cards'`); len(left) > 0 {
		t.Errorf("got leftovers %q, want none", left)
	}
}

// Boards whose number of done cards a server before v0.2.1 did not maintain are counted.
func TestDoneCardsOfChangedBoardsAreCounted(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		migrate, driver := sqldb.MigrateFile, "sqlite"
		if sqldb.IsPostgres(database) {
			migrate, driver = sqldb.MigratePostgres, "pgx"
		}
		if err := migrate(t.Context(), database, store.Migrations(), baseline); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open(driver, database)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, text := range []string{
			"INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_x', 'x', 'team', 1)",
			"INSERT INTO workspaces (id, organization_id, name, created_at) VALUES ('wsp_x', 'org_x', 'x', 1)",
			`INSERT INTO boards (id, workspace_id, name, visibility, features, version, created_at, updated_at, description, done_cards,
				done_cards_version) VALUES ('brd_a', 'wsp_x', 'x', 'private', 0, 7, 1, 1, '', 5, 6), ('brd_b', 'wsp_x', 'x', 'private', 0, 7,
				1, 1, '', 5, NULL), ('brd_c', 'wsp_x', 'x', 'private', 0, 7, 1, 1, '', 5, 7)`,
			`INSERT INTO lists (id, board_id, name, rank, wip_mode, archived_at, created_at, updated_at)
				VALUES ('lst_a', 'brd_a', 'x', 'a', 'soft', NULL, 1, 1), ('lst_b', 'brd_a', 'x', 'b', 'soft', 1, 1, 1)`,
			`INSERT INTO cards (id, board_id, list_id, rank, number, title, done_at, archived_at, created_at, updated_at, description)
				VALUES ('crd_a', 'brd_a', 'lst_a', 'a', 1, 'x', 1, NULL, 1, 1, ''), ('crd_b', 'brd_a', 'lst_a', 'b', 2, 'x', 1, 1, 1, 1, ''),
				('crd_c', 'brd_a', 'lst_a', 'c', 3, 'x', NULL, NULL, 1, 1, ''), ('crd_d', 'brd_a', 'lst_b', 'a', 4, 'x', 1, NULL, 1, 1, '')`,
		} {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		got := apptest.Select(t, apptest.OpenStore(t, database), "SELECT id || ' ' || done_cards FROM boards ORDER BY id")
		if want := []string{"brd_a 1", "brd_b 0", "brd_c 5"}; !slices.Equal(got, want) {
			t.Errorf("got done cards %v, want %v; brd_c was up to date", got, want)
		}
	})
}

// ownTables is true for the tables of Cardwall on SQLite.
const ownTables = "l.type = 'table' AND l.schema = 'main' AND l.name NOT IN ('goose_db_version', 'sqlite_sequence', 'sqlite_schema')"
