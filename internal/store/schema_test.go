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

// PostgreSQL's names for SQLite's types and keywords.
var sameType = map[string]string{"TEXT": "text", "INTEGER": "bigint", "BLOB": "bytea"}

// ownTables are the tables of goose, of SQLite itself and of its search index,
// and the view that older servers use on PostgreSQL.
const ownTables = "'letters', 'texts_indexed', 'texts_gone', 'goose_db_version', 'migration_lease', 'sqlite_sequence', " +
	"'sqlite_schema', 'sqlite_temp_schema'"

// The two migrations of a number create the same tables: names, columns in their
// order, types, nullability, keys and indexes. Objects that only one database needs
// for searching (virtual tables, GIN indexes) are ignored.
func TestBothSchemasAreTheSame(t *testing.T) {
	t.Parallel()
	lite, post := apptest.OpenStore(t, filepath.Join(t.TempDir(), "cardwall.db")), apptest.OpenStore(t, apptest.EmptyPostgresURL(t))
	parts := apptest.Select(t, post, "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'")
	ownTables := ownTables + ", '" + strings.Join(parts, "', '") + "'" // partitions are not compared, only their tables
	compare := func(what string, ours, theirs []string) {
		t.Helper()
		for _, s := range ours {
			if !slices.Contains(theirs, s) {
				t.Errorf("%s: only SQLite has %s", what, s)
			}
		}
		for _, s := range theirs {
			if !slices.Contains(ours, s) {
				t.Errorf("%s: only PostgreSQL has %s", what, s)
			}
		}
		if len(ours) < 15 {
			t.Errorf("%s: only %d were compared", what, len(ours))
		}
	}
	tables := "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND name NOT IN (" + ownTables + ")"
	compare("tables", apptest.Select(t, lite, tables), apptest.Select(t, post, "SELECT table_name FROM information_schema.tables "+
		"WHERE table_schema = 'public' AND table_name NOT IN ("+ownTables+")"))

	var columns []string
	for _, c := range apptest.Select(t, lite, `SELECT t.name || '.' || c.name || ' ' || c.cid || ' ' || c.type || CASE
		WHEN c."notnull" OR c.pk THEN ' not null' ELSE '' END || ' ' || COALESCE(c.dflt_value, '')
		FROM (`+tables+`) t JOIN pragma_table_info(t.name) c`) {
		f := strings.Fields(c)
		if f[2] = sameType[f[2]]; f[2] == "" {
			t.Errorf("%s: this test does not know the type", c)
		}
		columns = append(columns, strings.Join(f, " "))
	}
	var theirs []string
	for _, c := range apptest.Select(t, post,
		`SELECT table_name || '.' || column_name || ' ' || (ordinal_position - 1) || ' ' || data_type || CASE WHEN is_nullable = 'NO'
			THEN ' not null' ELSE '' END || ' ' || COALESCE(column_default, '')
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN (`+ownTables+`)`) {
		if strings.HasPrefix(c, "texts.workspace_id ") {
			continue // for the search index
		}
		// PostgreSQL appends ::text to the default of a text column.
		theirs = append(theirs, strings.TrimSuffix(strings.Join(strings.Fields(c), " "), "::text"))
	}
	compare("columns", columns, theirs)

	compare("primary keys",
		apptest.Select(t, lite, `SELECT t.name || ' ' || COALESCE((SELECT group_concat(name, ',') FROM (SELECT name
			FROM pragma_table_info(t.name) WHERE pk > 0 ORDER BY pk)), 'none') FROM (`+tables+`) t`),
		apptest.Select(t, post, `SELECT c.relname || ' ' || (SELECT string_agg(a.attname, ',' ORDER BY k.at)
			FROM unnest(i.indkey) WITH ORDINALITY AS k (num, at) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num)
			FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE i.indisprimary
			AND n.nspname = 'public' AND c.relname NOT IN (`+ownTables+`)`))

	compare("indexes",
		apptest.Select(t, lite, `SELECT t.name || ' ' || i.name || CASE WHEN i."unique" THEN ' unique ' ELSE ' ' END || CASE
			WHEN i.partial THEN 'partial ' ELSE '' END ||
			(SELECT group_concat(name, ',') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)) FROM (`+tables+`) t
				JOIN pragma_index_list(t.name) i WHERE i.origin = 'c'`),
		apptest.Select(t, post, `SELECT c.relname || ' ' || x.relname || CASE WHEN i.indisunique THEN ' unique ' ELSE ' ' END || CASE
			WHEN i.indpred IS NOT NULL THEN 'partial ' ELSE '' END ||
			(SELECT string_agg(a.attname, ',' ORDER BY k.at) FROM unnest(i.indkey) WITH ORDINALITY AS k (num, at)
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num)
			FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
			JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE NOT i.indisprimary AND m.amname = 'btree' AND n.nspname = 'public' AND c.relname NOT IN (`+ownTables+`)`))

	compare("foreign keys",
		apptest.Select(t, lite, `SELECT t.name || '.' || f."from" || ' ' || f."table" || '.' || f."to" || ' ' || lower(f.on_delete)
			FROM (`+tables+`) t JOIN pragma_foreign_key_list(t.name) f`),
		apptest.Select(t, post, `SELECT c.relname || '.' || a.attname || ' ' || r.relname || '.' || b.attname || CASE k.confdeltype
			WHEN 'c' THEN ' cascade' WHEN 'a' THEN ' no action' ELSE ' another' END
			FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1] JOIN pg_attribute b ON b.attrelid = r.oid
			AND b.attnum = k.confkey[1] WHERE k.contype = 'f'`))

	if others := apptest.Select(t, post, `SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type = 'text'
		AND COALESCE(collation_name, '') <> 'C' AND table_name NOT IN (`+ownTables+`)`); len(others) > 0 {
		t.Errorf(`these columns lack COLLATE "C", so PostgreSQL does not compare them by bytes: %v`, others)
	}
	if loose := apptest.Select(t, lite, "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND NOT strict "+
		"AND name NOT IN ("+ownTables+")"); len(loose) > 0 {
		t.Errorf("these tables of SQLite are not STRICT: %v", loose)
	}
}

// Some drivers silently bind $1 and $2 in the order of their appearance in the text.
func TestParametersAreBoundByNumber(t *testing.T) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		db := apptest.OpenStore(t, database)
		for text, want := range map[string]string{
			"SELECT CAST($2 AS TEXT) || CAST($1 AS TEXT)": "ba", "SELECT CAST($1 AS TEXT) || CAST($2 AS TEXT)": "ab",
			"SELECT CAST($2 AS TEXT) || CAST($1 AS TEXT) || CAST($2 AS TEXT)": "bab",
		} {
			if got := apptest.Select(t, db, text, "a", "b"); len(got) != 1 || got[0] != want {
				t.Errorf("%s of a, b: %q, want %q", text, got, want)
			}
		}
		many, want := "SELECT ", ""
		var args []any
		for i := range 20 {
			args = append(args, string(rune('a'+i)))
			want = string(rune('a'+i)) + want
			many += fmt.Sprintf("CAST($%d AS TEXT) || ", 20-i)
		}
		if got := apptest.Select(t, db, many+"''", args...); got[0] != want {
			t.Errorf("twenty parameters in reverse order: %q, want %q", got, want)
		}
		forth, want := "SELECT ", ""
		for i, arg := range args {
			want += arg.(string)
			forth += fmt.Sprintf("CAST($%d AS TEXT) || ", i+1)
		}
		if got := apptest.Select(t, db, forth+"''", args...); got[0] != want {
			t.Errorf("twenty parameters in order: %q, want %q", got, want)
		}
	})
}

// The SQL condition, the lists of people and the count of admins agree with
// board.RoleOn for every combination of roles and visibility.
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
			for who, p := range people {
				role := board.RoleOn(p.inWorkspace, p.onBoard, v)
				if role == board.RoleAdmin {
					admins++
				}
				if role != board.RoleNone {
					want[who] = role
				}
				seen := apptest.Select(t, db, `SELECT b.id FROM boards b LEFT JOIN workspace_members wm ON wm.workspace_id = b.workspace_id
					AND wm.user_id = $1
					LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = $1 WHERE b.id = $2 AND `+store.VisibleCondition, who, id)
				if (len(seen) == 1) != (role != board.RoleNone) {
					t.Errorf("%+v on a %s board: the condition says %v, RoleOn %q", p, v, len(seen) == 1, role)
				}
				if err := db.Read(ctx, board.Person(who, board.ScopeRead), func(view *store.View) error {
					boards, err := view.Boards(ctx, "", true, "", 10)
					listed := slices.IndexFunc(boards, func(b board.Board) bool { return b.ID == id })
					if (listed >= 0) != (role != board.RoleNone) || listed >= 0 && boards[listed].Role != role {
						t.Errorf("%+v on a %s board: Boards lists it at %d of %v, RoleOn says %q", p, v, listed, boards, role)
					}
					b, loaded := view.Board(ctx, id, board.View)
					if board.IsCode(loaded, board.CodeNotFound) != (role == board.RoleNone) || loaded == nil && b.Role != role {
						t.Errorf("%+v on a %s board: Board says %v as %q, RoleOn %q", p, v, loaded, b.Role, role)
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
					t.Errorf("the members of a %s board are %v, want %v", v, got, want)
				}
				if n, err := view.CountBoardAdmins(ctx, id, "usr_nobody"); err != nil || n != admins {
					t.Errorf("a %s board has %d admins (%v), want %d", v, n, err, admins)
				}
				found, err2 := view.PeopleOf(ctx, id, slices.Sorted(maps.Keys(people)))
				if err2 != nil || len(found) != len(want) {
					t.Errorf("PeopleOf a %s board finds %d (%v), want %d", v, len(found), err2, len(want))
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
