package store_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// postgresTypes maps SQLite's types to the PostgreSQL types of the same columns.
var postgresTypes = map[string]string{"TEXT": "text", "INTEGER": "bigint", "BLOB": "bytea"}

// ignoredTables lists the tables of migrations, of SQLite itself and of SQLite's search
// index.
const ignoredTables = "'texts_indexed', 'texts_gone', 'goose_db_version', 'migration_lease', 'sqlite_sequence', " +
	"'sqlite_schema', 'sqlite_temp_schema'"

// The migrations of SQLite and PostgreSQL create the same tables: names, columns in
// order, types, nullability, keys and indexes. Objects that only one database needs
// for searching (virtual tables, GIN indexes) are ignored.
func TestBothSchemasAreTheSame(t *testing.T) {
	t.Parallel()
	sqlite := apptest.OpenStore(t, filepath.Join(t.TempDir(), "cardwall.db"))
	postgres := apptest.OpenStore(t, apptest.EmptyPostgresURL(t))
	partitions := apptest.Select(t, postgres, "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'")
	ignoredTables := ignoredTables + ", '" + strings.Join(partitions, "', '") + "'"
	compare := func(noun string, inSQLite, inPostgres []string) {
		t.Helper()
		for _, s := range inSQLite {
			if !slices.Contains(inPostgres, s) {
				t.Errorf("%s: only SQLite has %s", noun, s)
			}
		}
		for _, s := range inPostgres {
			if !slices.Contains(inSQLite, s) {
				t.Errorf("%s: only PostgreSQL has %s", noun, s)
			}
		}
		if len(inSQLite) < 15 {
			t.Errorf("got %d %s to compare, want at least 15", len(inSQLite), noun)
		}
	}
	tables := "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT IN (" + ignoredTables + ")"
	compare("tables", apptest.Select(t, sqlite, tables), apptest.Select(t, postgres, "SELECT table_name FROM information_schema.tables "+
		"WHERE table_schema = 'public' AND table_name NOT IN ("+ignoredTables+")"))

	var columns []string
	for _, c := range apptest.Select(t, sqlite, `SELECT t.name || '.' || c.name || ' ' || c.cid || ' ' || c.type || CASE
		WHEN c."notnull" OR c.pk THEN ' not null' ELSE '' END || ' ' || COALESCE(c.dflt_value, '')
		FROM (`+tables+`) t JOIN pragma_table_info(t.name) c`) {
		f := strings.Fields(c)
		if f[2] = postgresTypes[f[2]]; f[2] == "" {
			t.Errorf("%s: the type is missing in postgresTypes", c)
		}
		columns = append(columns, strings.Join(f, " "))
	}
	var postgresColumns []string
	for _, c := range apptest.Select(t, postgres,
		`SELECT table_name || '.' || column_name || ' ' || (ordinal_position - 1) || ' ' || data_type || CASE WHEN is_nullable = 'NO'
			THEN ' not null' ELSE '' END || ' ' || COALESCE(column_default, '')
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN (`+ignoredTables+`)`) {
		if strings.HasPrefix(c, "texts.workspace_id ") {
			continue // only the search index of PostgreSQL needs it
		}
		// PostgreSQL appends ::text to the default of a text column.
		postgresColumns = append(postgresColumns, strings.TrimSuffix(strings.Join(strings.Fields(c), " "), "::text"))
	}
	compare("columns", columns, postgresColumns)

	compare("primary keys",
		apptest.Select(t, sqlite, `SELECT t.name || ' ' || COALESCE((SELECT group_concat(name, ',') FROM (SELECT name
			FROM pragma_table_info(t.name) WHERE pk > 0 ORDER BY pk)), 'none') FROM (`+tables+`) t`),
		apptest.Select(t, postgres, `SELECT c.relname || ' ' || (SELECT string_agg(a.attname, ',' ORDER BY k.at)
			FROM unnest(i.indkey) WITH ORDINALITY AS k (num, at) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num)
			FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE i.indisprimary
			AND n.nspname = 'public' AND c.relname NOT IN (`+ignoredTables+`)`))

	compare("indexes",
		apptest.Select(t, sqlite, `SELECT t.name || ' ' || i.name || CASE WHEN i."unique" THEN ' unique ' ELSE ' ' END || CASE
			WHEN i.partial THEN 'partial ' ELSE '' END ||
			(SELECT group_concat(name, ',') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)) FROM (`+tables+`) t
				JOIN pragma_index_list(t.name) i WHERE i.origin = 'c'`),
		apptest.Select(t, postgres, `SELECT c.relname || ' ' || x.relname || CASE WHEN i.indisunique THEN ' unique ' ELSE ' ' END || CASE
			WHEN i.indpred IS NOT NULL THEN 'partial ' ELSE '' END ||
			(SELECT string_agg(a.attname, ',' ORDER BY k.at) FROM unnest(i.indkey) WITH ORDINALITY AS k (num, at)
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num)
			FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
			JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE NOT i.indisprimary AND m.amname = 'btree' AND n.nspname = 'public' AND c.relname NOT IN (`+ignoredTables+`)`))

	compare("foreign keys",
		apptest.Select(t, sqlite, `SELECT t.name || '.' || f."from" || ' ' || f."table" || '.' || f."to" || ' ' || lower(f.on_delete)
			FROM (`+tables+`) t JOIN pragma_foreign_key_list(t.name) f`),
		apptest.Select(t, postgres, `SELECT c.relname || '.' || a.attname || ' ' || r.relname || '.' || b.attname || CASE k.confdeltype
			WHEN 'c' THEN ' cascade' WHEN 'a' THEN ' no action' ELSE ' another' END
			FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1] JOIN pg_attribute b ON b.attrelid = r.oid
			AND b.attnum = k.confkey[1] WHERE k.contype = 'f'`))

	if collated := apptest.Select(t, postgres, `SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type = 'text'
		AND COALESCE(collation_name, '') <> 'C' AND table_name NOT IN (`+ignoredTables+`)`); len(collated) > 0 {
		t.Errorf(`columns %v lack COLLATE "C", so PostgreSQL does not compare them by bytes`, collated)
	}
	if loose := apptest.Select(t, sqlite, "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND NOT strict "+
		"AND name NOT IN ("+ignoredTables+")"); len(loose) > 0 {
		t.Errorf("SQLite tables %v are not STRICT", loose)
	}
}

// Some drivers silently bind parameters in the order in which they appear in the text.
func TestParametersAreBoundByNumber(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		db := apptest.OpenStore(t, database)
		for text, want := range map[string]string{
			"SELECT CAST($2 AS TEXT) || CAST($1 AS TEXT)": "ba", "SELECT CAST($1 AS TEXT) || CAST($2 AS TEXT)": "ab",
			"SELECT CAST($2 AS TEXT) || CAST($1 AS TEXT) || CAST($2 AS TEXT)": "bab",
		} {
			if got := apptest.Select(t, db, text, "a", "b"); len(got) != 1 || got[0] != want {
				t.Errorf("%s with a, b: got %q, want %q", text, got, want)
			}
		}
		descending, want := "SELECT ", ""
		var args []any
		for i := range 20 {
			args = append(args, string(rune('a'+i)))
			want = string(rune('a'+i)) + want
			descending += fmt.Sprintf("CAST($%d AS TEXT) || ", 20-i)
		}
		if got := apptest.Select(t, db, descending+"''", args...); got[0] != want {
			t.Errorf("20 parameters in descending order: got %q, want %q", got, want)
		}
		ascending, want := "SELECT ", ""
		for i, arg := range args {
			want += arg.(string)
			ascending += fmt.Sprintf("CAST($%d AS TEXT) || ", i+1)
		}
		if got := apptest.Select(t, db, ascending+"''", args...); got[0] != want {
			t.Errorf("20 parameters in ascending order: got %q, want %q", got, want)
		}
	})
}

// The SQL conditions for access agree with board.RoleOn for every combination of roles
// and visibility: in the lists of boards and people, and in the count of admins.
func TestSQLAgreesWithRoleOn(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		db := apptest.OpenStore(t, database)
		ctx := context.Background()
		apptest.Change(t, db, "INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_x', 'x', 'team', 1)")
		apptest.Change(t, db, "INSERT INTO workspaces (id, organization_id, name, created_at) VALUES ('wsp_x', 'org_x', 'x', 1)")
		visibilities := []board.Visibility{board.VisibleToWorkspace, board.Private, board.Confidential}
		for _, v := range visibilities {
			apptest.Change(t, db, "INSERT INTO boards (id, workspace_id, name, visibility, features, version, created_at, updated_at, "+
				"description) VALUES ($1, 'wsp_x', 'x', $2, 0, 1, 1, 1, '')", "brd_"+string(v), string(v))
		}
		type person struct {
			inWorkspace board.WorkspaceRole
			onBoard     board.Role
		}
		people := map[string]person{}
		for _, in := range []board.WorkspaceRole{"", board.WorkspaceGuest, board.WorkspaceMember, board.WorkspaceAdmin, board.WorkspaceOwner} {
			for _, on := range []board.Role{"", board.RoleViewer, board.RoleCommenter, board.RoleEditor, board.RoleAdmin} {
				id := fmt.Sprintf("usr_%s_%s", in, on)
				people[id] = person{in, on}
				apptest.Change(t, db, "INSERT INTO users (id, email, name, time_zone, created_at) VALUES ($1, $2, 'x', 'UTC', 1)", id, id)
				if in != "" {
					apptest.Change(t, db, "INSERT INTO workspace_members (workspace_id, user_id, role, created_at) "+
						"VALUES ('wsp_x', $1, $2, 1)", id, string(in))
				}
				for _, v := range visibilities {
					if on != "" {
						apptest.Change(t, db, "INSERT INTO board_members (board_id, user_id, role, created_at) VALUES ($1, $2, $3, 1)",
							"brd_"+string(v), id, string(on))
					}
				}
			}
		}
		for _, v := range visibilities {
			id := "brd_" + string(v)
			admins := 0
			want := map[string]board.Role{}
			for userID, p := range people {
				role := board.RoleOn(p.inWorkspace, p.onBoard, v)
				if role == board.RoleAdmin {
					admins++
				}
				if role != board.RoleNone {
					want[userID] = role
				}
				visible := apptest.Select(t, db, `SELECT b.id FROM boards b LEFT JOIN workspace_members wm ON wm.workspace_id = b.workspace_id
					AND wm.user_id = $1
					LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = $1 WHERE b.id = $2 AND `+store.VisibleCondition, userID, id)
				if (len(visible) == 1) != (role != board.RoleNone) {
					t.Errorf("%+v on a %s board: got visible = %v from SQL, role %q from RoleOn", p, v, len(visible) == 1, role)
				}
				if err := db.Read(ctx, board.Person(userID, board.ScopeRead), func(view *store.View) error {
					boards, err := view.Boards(ctx, "", true, "", 10)
					listed := slices.IndexFunc(boards, func(b board.Board) bool { return b.ID == id })
					if (listed >= 0) != (role != board.RoleNone) || listed >= 0 && boards[listed].Role != role {
						t.Errorf("%+v on a %s board: got index %d in %v from Boards, role %q from RoleOn", p, v, listed, boards, role)
					}
					b, loadErr := view.Board(ctx, id, board.View)
					if board.IsCode(loadErr, board.CodeNotFound) != (role == board.RoleNone) || loadErr == nil && b.Role != role {
						t.Errorf("%+v on a %s board: got role %q (%v) from Board, role %q from RoleOn", p, v, b.Role, loadErr, role)
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Read(ctx, board.System(), func(view *store.View) error {
				if _, err := view.Board(ctx, id, board.View); err != nil {
					return err
				}
				members, err := view.BoardMembers(ctx, id, "", 100)
				got := map[string]board.Role{}
				for _, m := range members {
					got[m.ID] = m.Role
				}
				if !maps.Equal(got, want) {
					t.Errorf("%s board: got members %v, want %v", v, got, want)
				}
				if n, err := view.CountBoardAdmins(ctx, id, "usr_nobody"); err != nil || n != admins {
					t.Errorf("%s board: got %d admins (%v), want %d", v, n, err, admins)
				}
				found, findErr := view.PeopleOf(ctx, id, slices.Sorted(maps.Keys(people)))
				if findErr != nil || len(found) != len(want) {
					t.Errorf("%s board: got %d people from PeopleOf (%v), want %d", v, len(found), findErr, len(want))
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
