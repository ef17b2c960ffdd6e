package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver that the server also uses

	"cardwall/perf/client"
	"cardwall/perf/copies"
	"cardwall/perf/document"
	"cardwall/perf/postgres"
)

// The small installation is a workspace of 50 boards with 50,000 cards and half a million changes. The large
// installation adds 19 copies of it that belong to other people, so it has a million cards. The copies must not slow
// down work in the first workspace. A third installation has the same million cards in one workspace of 1,000 boards
// (see large_one.go).

const (
	largeWorkspaces = 20  // default of -large
	largeChanges    = 6   // number of changes to a board, as a multiple of those in the document
	largeRatio      = 1.5 // maximum p50 on the large installation, as a multiple of that on the small one
)

// measureLarge measures the main operations on the small and the large installation alternately, on each requested
// database. It also measures the third installation, and a neighbor's searches on the large one. It takes 15 minutes or
// more, so it runs only if -only is set.
func (s *suite) measureLarge(ctx context.Context) error {
	if s.Only.String() == "" || !s.wants(append(append(largeNames(), nameNeighborLarge), oneNames()...)...) {
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
	if err := copies.Folder(small.Data, large.Data); err != nil {
		return fmt.Errorf("copy the small installation: %w", err)
	}
	if err := s.measureOneFile(ctx, small); err != nil || !s.wants(append(largeNames(), nameNeighborLarge)...) {
		return err
	}
	if err := s.multiplyFile(ctx, large.Data, small.Data, copiesForOthers); err != nil {
		return err
	}
	if err := s.compareLarge(ctx, nameLarge+", ", large, small, nil); err != nil || !s.wants(nameNeighborLarge) {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(large.Data, "cardwall.db")+"?_pragma=foreign_keys(0)")
	if err != nil {
		return fmt.Errorf("open the large installation: %w", err)
	}
	return s.measureNeighborLarge(ctx, large, db, "")
}

// multiplyFile adds copies of rows to the database in the folder into. It reads the rows from the database in the
// folder from.
func (s *suite) multiplyFile(ctx context.Context, into, from string, of copies.Kind) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(into, "cardwall.db")+
		"?_pragma=foreign_keys(0)&_pragma=synchronous(OFF)&_pragma=journal_mode(OFF)&_pragma=cache_size(-500000)")
	if err != nil {
		return fmt.Errorf("open the large installation: %w", err)
	}
	db.SetMaxOpenConns(1) // ATTACH applies to one connection
	if _, err = db.ExecContext(ctx, "ATTACH $1 AS base", "file:"+filepath.Join(from, "cardwall.db")); err == nil {
		err = copies.Add(ctx, copies.Into{DB: db, From: "base.", Progress: s.progress,
			Indexes: "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = $1"}, of, s.large-1)
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode(WAL)")
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("fill the large installation: %w", err)
	}
	return nil
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
	if err := s.measureOnePostgres(ctx, cluster, small); err != nil || !s.wants(append(largeNames(), nameNeighborLarge)...) {
		return err
	}
	if err := s.multiplyPostgres(ctx, large.Database, copiesForOthers); err != nil {
		return err
	}
	if err := errors.Join(cluster.Exec(ctx, large.Database, "VACUUM ANALYZE"), cluster.Exec(ctx, small.Database, "VACUUM ANALYZE"),
		cluster.Exec(ctx, cluster.URL, "CHECKPOINT")); err != nil {
		return err
	}
	if err := s.compareLarge(ctx, nameLarge+namePostgres+", ", large, small, cluster.CPU); err != nil || !s.wants(nameNeighborLarge) {
		return err
	}
	db, err := sql.Open("pgx", database)
	if err != nil {
		return fmt.Errorf("open the large installation: %w", err)
	}
	return s.measureNeighborLarge(ctx, large, db, namePostgres)
}

// multiplyPostgres adds copies of the rows of a database to the same database.
func (s *suite) multiplyPostgres(ctx context.Context, database string, of copies.Kind) error {
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
	err = copies.Add(ctx, copies.Into{DB: db, Progress: s.progress, Indexes: "SELECT i.indexname, i.indexdef FROM pg_indexes i " +
		"WHERE i.tablename = $1 AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)"}, of, s.large-1)
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("fill the large installation: %w", err)
	}
	return nil
}

// fillBase imports the first workspace and multiplies the changes to its boards.
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
	columns, err := copies.Columns(ctx, db, "activity")
	if err == nil {
		values := make([]string, len(columns))
		for i, c := range columns {
			switch c {
			case "version":
				values[i] = "a.version + k.n * b.version"
			case "id":
				values[i] = "substr(a.id, 1, 28) || k.n || 'z'"
			default:
				values[i] = "a." + c
			}
		}
		for _, text := range []string{
			"INSERT INTO activity (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") + " FROM activity a " +
				"JOIN boards b ON b.id = a.board_id CROSS JOIN (" + copies.Numbers(1, largeChanges-1) + ") k",
			"UPDATE boards SET version = version * " + strconv.Itoa(largeChanges) + ", done_cards_version = version * " + strconv.Itoa(largeChanges),
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

// copiesForOthers gives each copy of the first workspace to other people in another workspace.
var copiesForOthers = copies.Kind{Tables: []string{
	"organizations", "users", "workspaces", "workspace_members", "boards", "lists", "labels", "cards", "card_labels",
	"former_members", "card_assignees", "texts", "activity",
}}

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

// compareLarge measures the two installations alternately, with one client.
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
		f := s.newFixture(srv.token, srv.workspace, srv.Addr)
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
		found, err := s.runInterleaved(ctx, loads, interleavedParts)
		if err != nil {
			return err
		}
		here, there := found[0].latency.Quantile(0.5), found[1].latency.Quantile(0.5)
		ratio := float64(here) / float64(max(there, 1))
		s.rows = append(s.rows, row{
			name: prefix + name, result: found[0],
			ratios: []string{fmt.Sprintf("%.2f of the small one's p50 of %.2f ms", ratio, milliseconds(there))},
			goals: []goal{
				{fmt.Sprintf("≤ %.1f of the small one", largeRatio), here > 0 && there > 0 && ratio <= largeRatio},
				{"no error", found[0].errors+found[1].errors == 0},
			},
		})
	}
	return nil
}

// largeSources returns the requests of each operation. It creates the board on which cards are updated and moved.
func (s *suite) largeSources(ctx context.Context, f *fixture) (map[string]func(int) source, error) {
	c := f.client()
	defer c.Close()
	var boards []record
	if err := call(c, "GET", "/boards?limit=50&workspaceId="+url.QueryEscape(f.workspace), nil, 200, &boards); err != nil {
		return nil, err
	}
	if len(boards) < document.Boards {
		return nil, fmt.Errorf("the workspace has %d boards, want at least %d", len(boards), document.Boards)
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
	rotate := func(paths ...string) func(int) source {
		shared := &rotatingSource{paths: paths}
		return func(int) source { return shared }
	}
	ofBoards := func(path string) func(int) source {
		var paths []string
		for _, b := range boards {
			paths = append(paths, apiPath+"/boards/"+b.ID+path)
		}
		return rotate(paths...)
	}
	workspace, zone, now := apiPath+"/workspaces/"+f.workspace, "timeZone="+url.QueryEscape(reportZone), time.Now()
	var months, rare []string
	for month := range 6 {
		from := now.AddDate(0, 0, 30*(month-3))
		months = append(months, workspace+"/calendar?from="+from.Format(time.DateOnly)+
			"&to="+from.AddDate(0, 0, 29).Format(time.DateOnly)+"&"+zone)
	}
	for _, word := range document.RareWords() {
		rare = append(rare, apiPath+"/search?q="+word)
	}
	return map[string]func(int) source{
		nameGet:               func(int) source { return &getSource{random: s.random(), cards: all} },
		"list_cards 50":       ofBoards("/cards?limit=50"),
		"list_board_activity": ofBoards("/activity?limit=50"),
		"list_board_changes":  ofBoards("/changes?limit=50&since=5000"),
		"get_home":            func(int) source { return pathSource{applicationPath + "/home"} },
		"list_my_cards":       func(int) source { return pathSource{apiPath + "/me/cards?limit=50"} },
		nameCreate:            func(int) source { return &createSource{random: s.random(), boards: []*growingBoard{growing}} },
		nameUpdate:            func(int) source { return &updateSource{random: s.random(), cards: worked.cards} },
		nameMove:              func(i int) source { return newMoveSource(s.random(), worked, i, 1) },
		nameCalendar:          rotate(months...),
		nameDashboard:         rotate(workspace + "/dashboard?" + zone),
		nameSearchRare:        rotate(rare...),
		nameSearchMedium:      rotate(apiPath + "/search?q=" + document.MediumWord),
		nameSearchCommon:      rotate(apiPath + "/search?q=" + document.CommonWord),
	}, nil
}

// rotatingSource requests one path after another and starts again after the last one.
type rotatingSource struct {
	paths []string
	turn  int
	empty bool // whether the responses must contain no record
}

func (s *rotatingSource) next(r *client.Request) error {
	r.Reset("GET", 200)
	r.Path = append(r.Path, s.paths[s.turn%len(s.paths)]...)
	s.turn++
	return nil
}

// check returns an error if the response contains no record, because an empty response would be fast. If empty is set,
// check instead returns an error if the response contains a record.
func (s *rotatingSource) check(body []byte) error {
	err := mustContain(body, `"id":"`)
	if !s.empty {
		return err
	}
	if err == nil {
		return fmt.Errorf("the response contains a record: %.300s", body)
	}
	return nil
}
