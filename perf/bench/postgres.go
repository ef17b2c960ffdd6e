package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"cardwall/perf/document"
	"cardwall/perf/postgres"
)

// nodesName returns the name of a benchmark on the given number of servers.
func nodesName(name string, nodes int) string {
	if nodes == 1 {
		return name + namePostgres
	}
	return name + namePostgres + ", " + strconv.Itoa(nodes) + " nodes"
}

// measurePostgres measures PostgreSQL alone, how fast a server takes over webhooks, and then the benchmarks. It skips the
// MCP benchmarks. Each number of servers has its own database.
func (s *suite) measurePostgres(ctx context.Context, benchmarks []benchmark) (err error) {
	var requested []benchmark
	for _, m := range benchmarks {
		if s.wants(m.name) && m.name != nameToolOld && m.name != nameToolRest && m.name != nameTool {
			requested = append(requested, m)
		}
	}
	if !s.postgres || len(requested) == 0 && !s.wants(nameRawPostgres, nameRawPostgresAlone, nameHookTakeover) {
		return nil
	}
	s.progress("starting PostgreSQL")
	cluster, err := postgres.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	for name, clients := range map[string]int{nameRawPostgresAlone: 1, nameRawPostgres: s.clients} {
		if !s.wants(name) {
			continue
		}
		s.progress("measuring %s", name)
		res, err := rawPostgres(ctx, cluster, name, clients, s.warm, s.window)
		if err != nil {
			return err
		}
		s.rows = append(s.rows, row{name: name, result: res})
	}
	if s.wants(nameHookTakeover) {
		if err := s.measureTakeover(ctx, cluster); err != nil {
			return err
		}
	}
	if len(requested) == 0 {
		return nil
	}
	for _, n := range s.nodes {
		if err := s.measureNodes(ctx, cluster, n, requested); err != nil {
			return err
		}
	}
	return nil
}

// measureNodes runs the benchmarks on n servers that share one database.
func (s *suite) measureNodes(ctx context.Context, cluster *postgres.Cluster, n int, benchmarks []benchmark) (err error) {
	database, err := cluster.CreateDatabase(ctx, "nodes"+strconv.Itoa(n), "template0")
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "nodes"+strconv.Itoa(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	first, err := newInstallation(ctx, s.Binary, dir, database)
	if err != nil {
		return err
	}
	nodes := []*installation{first}
	for len(nodes) < n {
		nodes = append(nodes, first.another())
	}
	f := s.newFixture(first.token, first.workspace)
	for _, node := range nodes {
		defer func() { err = errors.Join(err, node.Stop()) }()
		if _, err := node.Start(ctx); err != nil {
			return first.WithLog(err)
		}
		f.addrs = append(f.addrs, node.Addr)
	}
	others := func() (time.Duration, error) {
		sum, err := cluster.CPU()
		for _, node := range nodes[1:] {
			more, nodeErr := node.Process.CPU()
			sum, err = sum+more, errors.Join(err, nodeErr)
		}
		return sum, err
	}
	for _, m := range benchmarks {
		sources, err := m.sources(ctx, f, m.clients)
		if err != nil {
			return err
		}
		if err := s.measureLoad(ctx, &load{
			name: nodesName(m.name, n), clients: m.clients, pid: first.Process.PID(), others: others, client: f.client, source: sources,
		}); err != nil {
			return err
		}
	}
	return nil
}

// rawPostgres measures PostgreSQL alone. Each client inserts one row per durable transaction.
func rawPostgres(ctx context.Context, cluster *postgres.Cluster, name string, clients int, warm, window time.Duration) (*result, error) {
	if err := cluster.Exec(ctx, cluster.URL, "DROP TABLE IF EXISTS raw",
		"CREATE TABLE raw (client BIGINT NOT NULL, number BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (client, number))"); err != nil {
		return nil, err
	}
	results, errs := make([]*result, clients), make([]error, clients)
	cpu0, err := cluster.CPU()
	if err != nil {
		return nil, err
	}
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() { results[i], errs[i] = rawClient(ctx, name, cluster.URL, i, warm, window) })
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	cpu1, err := cluster.CPU()
	res := &result{name: name, clients: clients, units: 1,
		serverCPU: time.Duration(float64(cpu1-cpu0) * window.Seconds() / (window + warm).Seconds())}
	for _, r := range results {
		res.elapsed = max(res.elapsed, r.elapsed)
		res.loadCPU = max(res.loadCPU, r.loadCPU) // each value covers the whole process
		res.latency.Merge(&r.latency)
	}
	return res, err
}

// rawClient runs one client of rawPostgres.
func rawClient(ctx context.Context, name, database string, client int, warm, window time.Duration) (*result, error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	n := 0
	return repeat(ctx, name, 1, warm, window, func() error {
		n++
		_, err := conn.Exec(ctx, "INSERT INTO raw (client, number, body) VALUES ($1, $2, $3)", client, n, document.Text)
		return err
	})
}
