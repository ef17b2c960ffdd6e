package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver that the server uses too

	"cardwall/perf/client"
	"cardwall/perf/document"
	"cardwall/perf/postgres"
)

// The large installation is the small one, a workspace of 50 boards with 50,000 cards and half a million changes, and 19
// copies that belong to other people: a million cards in total. They must not slow down work in the first workspace.

const (
	largeWorkspaces = 20 // unless -large is given
	largeChanges    = 6  // the changes of a board, as a multiple of those in the document
	largeRatio      = 1.5
)

// measureLarge measures the main operations on both installations alternately, on each requested database. It takes a
// quarter of an hour, so it runs only if it is requested by name.
func (s *suite) measureLarge(ctx context.Context) error {
	if s.Only.String() == "" || !s.wants(append(largeNames(), nameNeighborLarge)...) {
		return nil
	}
	if err := s.measureLargeFile(ctx); err != nil || !s.postgres {
		return err
	}
	return s.measureLargePostgres(ctx)
}

func (s *suite) measureLargeFile(ctx context.Context) error {
	dir := filepath.Join(s.dir, "large")
	large, err := s.fillBase(ctx, dir, "", func(path string) (*sql.DB, error) {
		return sql.Open("sqlite", "file:"+filepath.Join(path, "cardwall.db")+
			"?_pragma=foreign_keys(0)&_pragma=synchronous(OFF)&_pragma=cache_size(-500000)")
	})
	if err != nil {
		return err
	}
	small := large.another()
	small.Data = filepath.Join(dir, "small")
	if err := copyFolder(small.Data, large.Data); err != nil {
		return fmt.Errorf("copy the small installation: %w", err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(large.Data, "cardwall.db")+
		"?_pragma=foreign_keys(0)&_pragma=synchronous(OFF)&_pragma=journal_mode(OFF)&_pragma=cache_size(-500000)")
	if err != nil {
		return fmt.Errorf("open the large installation: %w", err)
	}
	db.SetMaxOpenConns(1) // ATTACH applies to one connection
	if _, err = db.ExecContext(ctx, "ATTACH $1 AS base", "file:"+filepath.Join(small.Data, "cardwall.db")); err == nil {
		err = s.multiply(ctx, db, "base.", "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = $1")
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode(WAL)")
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("fill the large installation: %w", err)
	}
	if err := s.compareLarge(ctx, nameLarge+", ", large, small, nil); err != nil || !s.wants(nameNeighborLarge) {
		return err
	}
	if db, err = sql.Open("sqlite", "file:"+filepath.Join(large.Data, "cardwall.db")+"?_pragma=foreign_keys(0)"); err != nil {
		return fmt.Errorf("open the large installation: %w", err)
	}
	return s.measureNeighborLarge(ctx, large, db, "")
}

// copyFolder copies the files of a folder and makes them private.
func copyFolder(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
}

func (s *suite) measureLargePostgres(ctx context.Context) (err error) {
	cluster, err := postgres.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	database, err := cluster.CreateDatabase(ctx, "large", "template0")
	if err != nil {
		return err
	}
	large, err := s.fillBase(ctx, filepath.Join(s.dir, "large-postgres"), database,
		func(string) (*sql.DB, error) { return sql.Open("pgx", database) })
	if err != nil {
		return err
	}
	small := large.another()
	if small.Database, err = cluster.CreateDatabase(ctx, "small", "large"); err != nil {
		return err
	}
	db, err := sql.Open("pgx", database)
	if err != nil {
		return fmt.Errorf("open the large installation: %w", err)
	}
	db.SetMaxOpenConns(1)
	for _, text := range []string{"SET session_replication_role = replica", "SET maintenance_work_mem = '512MB'",
		"SET synchronous_commit = off"} {
		if _, err = db.ExecContext(ctx, text); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", text, err), db.Close())
		}
	}
	err = s.multiply(ctx, db, "", "SELECT i.indexname, i.indexdef FROM pg_indexes i WHERE i.tablename = $1 AND NOT EXISTS (SELECT 1 "+
		"FROM pg_constraint c WHERE c.conname = i.indexname)")
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("fill the large installation: %w", err)
	}
	if err := errors.Join(cluster.Exec(ctx, large.Database, "VACUUM ANALYZE"), cluster.Exec(ctx, small.Database, "VACUUM ANALYZE"),
		cluster.Exec(ctx, cluster.URL, "CHECKPOINT")); err != nil {
		return err
	}
	if err := s.compareLarge(ctx, nameLarge+namePostgres+", ", large, small, cluster.CPU); err != nil || !s.wants(nameNeighborLarge) {
		return err
	}
	if db, err = sql.Open("pgx", database); err != nil {
		return fmt.Errorf("open the large installation: %w", err)
	}
	return s.measureNeighborLarge(ctx, large, db, namePostgres)
}

// fillBase imports the first workspace and multiplies the changes of its boards.
func (s *suite) fillBase(ctx context.Context, dir, database string, open func(data string) (*sql.DB, error)) (*installation, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create folder: %w", err)
	}
	srv, err := newInstallation(ctx, s.Binary, dir, database)
	if err != nil {
		return nil, err
	}
	s.progress("importing a workspace of %d boards of %d cards", document.Boards, document.Cards)
	path := filepath.Join(dir, "workspace.json")
	if err := document.WriteWorkspaceFile(path, srv.owner, 0, time.Now()); err != nil {
		return nil, err
	}
	if _, err := srv.Run(ctx, "import", "cardwall", path, "--workspace", srv.workspace); err != nil {
		return nil, err
	}
	db, err := open(srv.Data)
	if err != nil {
		return nil, fmt.Errorf("open the installation: %w", err)
	}
	columns, err := columnsOf(ctx, db, "activity")
	if err == nil {
		values := make([]string, len(columns))
		for i, c := range columns {
			switch c {
			case "version":
				values[i] = "a.version + k.n * b.version"
			case "id":
				values[i] = "substr(a.id, 1, 27) || 'u0' || k.n"
			default:
				values[i] = "a." + c
			}
		}
		for _, text := range []string{
			"INSERT INTO activity (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") + " FROM activity a " +
				"JOIN boards b ON b.id = a.board_id CROSS JOIN (" + numbers(1, largeChanges-1) + ") k",
			"UPDATE boards SET version = version * " + strconv.Itoa(largeChanges),
		} {
			if _, err = db.ExecContext(ctx, text); err != nil {
				err = fmt.Errorf("%s: %w", text, err)
				break
			}
		}
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, fmt.Errorf("fill the small installation: %w", err)
	}
	return srv, nil
}

// numbers returns a query for the numbers in a range.
func numbers(from, to int) string {
	text := "SELECT " + strconv.Itoa(from) + " AS n"
	for i := from + 1; i <= to; i++ {
		text += " UNION ALL SELECT " + strconv.Itoa(i)
	}
	return text
}

// multiply copies the rows of the first workspace for each of the others, with new ids: the last characters of each id are
// replaced by a letter that occurs in no id and the number of the workspace. Indexes are created after the rows.
func (s *suite) multiply(ctx context.Context, db *sql.DB, from, indexes string) error {
	into := ""
	if from != "" { // the attached database has tables with the same names
		into = "main."
	}
	for _, table := range []string{
		"organizations", "users", "workspaces", "workspace_members", "boards", "lists", "labels", "cards", "card_labels",
		"former_members", "card_assignees", "texts", "activity",
	} {
		s.progress("filling %s", table)
		columns, err := columnsOf(ctx, db, table)
		if err != nil {
			return err
		}
		if table == "texts" { // the database assigns its ids
			columns = slices.DeleteFunc(columns, func(c string) bool { return c == "id" })
		}
		var values []string
		for _, c := range columns {
			switch {
			case c == "id", c == "created_by", strings.HasSuffix(c, "_id"):
				values = append(values, "substr(t."+c+", 1, 26) || 'u' || (100 + k.n)")
			case c == "email":
				values = append(values, "(100 + k.n) || t."+c)
			default:
				values = append(values, "t."+c)
			}
		}
		restore, err := withoutIndexes(ctx, db, indexes, table)
		if err != nil {
			return err
		}
		text := "INSERT INTO " + into + table + " (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") +
			" FROM " + from + table + " t CROSS JOIN (" + numbers(1, s.large-1) + ") k"
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("copy %s: %w", table, err)
		}
		for _, make := range restore {
			if _, err := db.ExecContext(ctx, make); err != nil {
				return fmt.Errorf("%.60s: %w", make, err)
			}
		}
	}
	return nil
}

// withoutIndexes drops the indexes of a table and returns the statements that create them again.
func withoutIndexes(ctx context.Context, db *sql.DB, list, table string) (restore []string, err error) {
	rows, err := db.QueryContext(ctx, list, table)
	if err != nil {
		return nil, fmt.Errorf("list the indexes of %s: %w", table, err)
	}
	var names []string
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		names, restore = append(names, name), append(restore, text)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, name := range names {
		if _, err := db.ExecContext(ctx, "DROP INDEX "+name); err != nil {
			return nil, fmt.Errorf("drop %s: %w", name, err)
		}
	}
	return restore, nil
}

func columnsOf(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, fmt.Errorf("read the columns of %s: %w", table, err)
	}
	columns, err := rows.Columns()
	return columns, errors.Join(err, rows.Close())
}

// largeNames returns the names of the operations that are compared.
func largeNames() []string {
	names := []string{
		nameGet, "list_cards 50", "list_board_activity", "list_board_changes", "get_home", "list_my_cards",
		nameCalendar, nameDashboard, nameSearchRare, nameSearchMedium, nameSearchCommon, nameCreate, nameUpdate, nameMove,
	}
	for i, name := range names {
		names[i] = nameLarge + ", " + name
	}
	return names
}

// compareLarge measures both installations alternately, with one client.
func (s *suite) compareLarge(ctx context.Context, prefix string, large, small *installation,
	others func() (time.Duration, error)) (err error) {
	if !s.wants(largeNames()...) {
		return nil
	}
	type side struct {
		srv     *installation
		f       *fixture
		sources map[string]func(int) source
	}
	var sides []*side
	for _, srv := range []*installation{large, small} {
		defer func() { err = errors.Join(err, srv.Stop()) }()
		if _, err := srv.Start(ctx); err != nil {
			return srv.WithLog(err)
		}
		f := &fixture{
			addrs: []string{srv.Addr}, token: srv.token, workspace: srv.workspace, clients: s.clients, progress: s.progress,
			names: s.names, boards: make(map[string]*board), cursors: make(map[string][]string),
		}
		sources, err := s.largeSources(ctx, f)
		if err != nil {
			return srv.WithLog(err)
		}
		sides = append(sides, &side{srv, f, sources})
	}
	for _, name := range largeNames() {
		name = strings.TrimPrefix(name, nameLarge+", ")
		if !s.wants(nameLarge + ", " + name) {
			continue
		}
		s.progress("measuring %s", prefix+name)
		var loads []*load
		for _, side := range sides {
			loads = append(loads, &load{name: prefix + name, clients: 1, pid: side.srv.Process.PID(), others: others,
				client: side.f.client, source: side.sources[name]})
		}
		found, err := s.runInterleaved(ctx, loads, rounds)
		if err != nil {
			return err
		}
		here, there := found[0].latency.Quantile(0.5), found[1].latency.Quantile(0.5)
		ratio := float64(here) / float64(max(there, 1))
		s.rows = append(s.rows, row{
			name: prefix + name, result: found[0],
			ratios: []string{fmt.Sprintf("%.2f of the small one's p50, %.2f ms", ratio, milliseconds(there))},
			goals: []goal{
				{fmt.Sprintf("≤ %.1f of the small one", largeRatio), here > 0 && there > 0 && ratio <= largeRatio},
				{"no error", found[0].errors+found[1].errors == 0},
			},
		})
	}
	return nil
}

// largeSources returns the requests of each operation.
func (s *suite) largeSources(ctx context.Context, f *fixture) (map[string]func(int) source, error) {
	c := f.client()
	defer c.Close()
	var boards []record
	if err := call(c, "GET", "/boards?limit=50&workspaceId="+url.QueryEscape(f.workspace), nil, 200, &boards); err != nil {
		return nil, err
	}
	if len(boards) < document.Boards {
		return nil, fmt.Errorf("the workspace has %d boards instead of %d", len(boards), document.Boards)
	}
	var all []card
	for _, b := range boards[:10] {
		var cards []record
		if err := call(c, "GET", "/boards/"+b.ID+"/cards?limit=50", nil, 200, &cards); err != nil {
			return nil, err
		}
		for _, found := range cards {
			all = append(all, card{id: found.ID})
		}
	}
	worked, err := f.board(ctx, "Worked on", 1000)
	if err != nil {
		return nil, err
	}
	growing := newGrowingBoard(f)
	paths := func(format string) func(int) source {
		asked := &rotatingSource{}
		for _, b := range boards {
			asked.paths = append(asked.paths, strings.ReplaceAll(format, "{board}", b.ID))
		}
		return func(int) source { return asked }
	}
	sources := map[string]func(int) source{
		nameGet:               func(int) source { return &getSource{random: s.random(), cards: all} },
		"list_cards 50":       paths(apiPath + "/boards/{board}/cards?limit=50"),
		"list_board_activity": paths(apiPath + "/boards/{board}/activity?limit=50"),
		"list_board_changes":  paths(apiPath + "/boards/{board}/changes?limit=50&since=5000"),
		"get_home":            func(int) source { return pathSource{applicationPath + "/home"} },
		"list_my_cards":       func(int) source { return pathSource{apiPath + "/me/cards?limit=50"} },
		nameCreate:            func(int) source { return &createSource{random: s.random(), boards: growing} },
		nameUpdate:            func(int) source { return &updateSource{random: s.random(), cards: worked.cards} },
		nameMove:              func(i int) source { return newMoveSource(s.random(), worked, i, 1) },
	}
	now := time.Now()
	for _, name := range []string{nameCalendar, nameDashboard, nameSearchRare, nameSearchMedium, nameSearchCommon} {
		asked := &rotatingSource{}
		switch name {
		case nameCalendar:
			for month := range 6 {
				from := now.AddDate(0, 0, 30*(month-3))
				asked.paths = append(asked.paths, apiPath+"/workspaces/"+f.workspace+"/calendar?from="+from.Format(time.DateOnly)+
					"&to="+from.AddDate(0, 0, 29).Format(time.DateOnly)+"&timeZone="+url.QueryEscape(reportZone))
			}
		case nameDashboard:
			asked.paths = []string{apiPath + "/workspaces/" + f.workspace + "/dashboard?timeZone=" + url.QueryEscape(reportZone)}
		case nameSearchRare:
			for _, word := range document.RareWords() {
				asked.paths = append(asked.paths, apiPath+"/search?q="+word)
			}
		case nameSearchMedium:
			asked.paths = []string{apiPath + "/search?q=" + document.MediumWord}
		case nameSearchCommon:
			asked.paths = []string{apiPath + "/search?q=" + document.CommonWord}
		}
		sources[name] = func(int) source { return asked }
	}
	return sources, nil
}

// rotatingSource requests one path after the other.
type rotatingSource struct {
	paths []string
	turn  int
}

func (s *rotatingSource) next(r *client.Request) error {
	r.Reset("GET", 200)
	r.Path = append(r.Path, s.paths[s.turn%len(s.paths)]...)
	s.turn++
	return nil
}

// check requires a record in the response, because an empty response would be fast.
func (s *rotatingSource) check(body []byte) error { return mustContain(body, `"id":"`) }
