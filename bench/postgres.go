package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgres is a cluster made for the run.
type postgres struct {
	url  string // of a superuser, for its first database
	hold io.Closer
	proc *process // tools/with-postgres, below which all its processes are
}

// startPostgres starts a cluster that is as durable as PostgreSQL comes.
func startPostgres(ctx context.Context) (*postgres, error) {
	// The script is found where its caller stands, which "make bench" makes the root of the repository.
	script, err := filepath.Abs(filepath.Join("tools", "with-postgres"))
	if err != nil {
		return nil, fmt.Errorf("find tools/with-postgres: %w", err)
	}
	cmd := exec.Command(script, "--durable", "sh", "-c", `echo "$CARDWALL_TEST_POSTGRES"; exec cat`)
	cmd.Stderr = os.Stderr
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	proc, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	p := &postgres{hold: hold, proc: proc}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: what it printed says why: %w", err), p.stop())
	}
	p.url = strings.TrimSpace(line)
	return p, ctx.Err()
}

// stop ends the cluster and returns when its folder is gone.
func (p *postgres) stop() error {
	err := p.hold.Close()
	select {
	case <-p.proc.done:
		return err
	case <-time.After(time.Minute):
		return errors.Join(err, p.proc.stop())
	}
}

// exec runs statements on a database of the cluster.
func (p *postgres) exec(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, text := range statements {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%.60s: %w", text, err)
		}
	}
	return nil
}

// create makes a database, a copy of another or of nothing, and answers its address.
func (p *postgres) create(ctx context.Context, name, like string) (string, error) {
	address, err := url.Parse(p.url)
	if err != nil {
		return "", fmt.Errorf("read the address of PostgreSQL: %w", err)
	}
	address.Path = "/" + name
	return address.String(), p.exec(ctx, p.url, "CREATE DATABASE "+name+" TEMPLATE "+like)
}

// cpu answers the processor time of all processes of the cluster.
func (p *postgres) cpu() (time.Duration, error) { return treeCPU(p.proc.pid()) }

// treeCPU answers the processor time of a process and of all below it, those that have ended too.
func treeCPU(root int) (time.Duration, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	parents, times := map[int]int{}, map[int]time.Duration{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 15 {
			return 0, errors.New("read processor time: /proc/PID/stat has too few fields")
		}
		parents[pid], _ = strconv.Atoi(fields[1])
		for _, field := range fields[11:15] { // its own, and that of its ended children
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read processor time: %w", err)
			}
			times[pid] += time.Duration(ticks) * clockTick
		}
	}
	var sum time.Duration
	for pid, took := range times {
		for p := pid; p != 0; p = parents[p] {
			if p == root {
				sum += took
				break
			}
		}
	}
	return sum, nil
}

// nodesName is how a measure on so many servers is called.
func nodesName(name string, nodes int) string {
	if nodes == 1 {
		return name + namePostgres
	}
	return name + namePostgres + ", " + strconv.Itoa(nodes) + " nodes"
}

// measurePostgres runs the measures on PostgreSQL, with each number of servers on a database of its own, and what
// PostgreSQL can do at all.
func (s *suite) measurePostgres(ctx context.Context, measures []measure) (err error) {
	var wanted []measure
	for _, m := range measures {
		if s.wants(m.name) && m.name != nameToolOld && m.name != nameToolRest && m.name != nameTool {
			wanted = append(wanted, m)
		}
	}
	if !s.postgres || len(wanted) == 0 && !s.wants(nameRawPostgres, nameRawPostgresAlone) {
		return nil
	}
	s.progress("starting PostgreSQL")
	cluster, err := startPostgres(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.stop()) }()
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
	if len(wanted) == 0 {
		return nil
	}
	for _, n := range s.nodes {
		if err := s.measureNodes(ctx, cluster, n, wanted); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) measureNodes(ctx context.Context, cluster *postgres, n int, measures []measure) (err error) {
	database, err := cluster.create(ctx, "nodes"+strconv.Itoa(n), "template0")
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "nodes"+strconv.Itoa(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	first, err := newServerOn(ctx, s.binary, dir, database)
	if err != nil {
		return err
	}
	nodes := []*server{first}
	for len(nodes) < n {
		nodes = append(nodes, first.another())
	}
	f := &fixture{
		token: first.token, workspace: first.workspace, clients: s.clients, progress: s.progress,
		names: s.names, boards: make(map[string]*board), cursors: make(map[string][]string),
	}
	for _, node := range nodes {
		defer func() { err = errors.Join(err, node.stop()) }()
		if _, err := node.start(ctx); err != nil {
			return fmt.Errorf("%w\nThe server's last lines:\n%s", err, first.lastWords())
		}
		f.addrs = append(f.addrs, node.addr)
	}
	others := func() (time.Duration, error) {
		sum, err := cluster.cpu()
		for _, node := range nodes[1:] {
			more, nodeErr := processCPU(node.proc.pid())
			sum, err = sum+more, errors.Join(err, nodeErr)
		}
		return sum, err
	}
	for _, m := range measures {
		sources, err := m.sources(ctx, f, m.clients)
		if err != nil {
			return err
		}
		if err := s.measureLoad(ctx, &load{
			name: nodesName(m.name, n), clients: m.clients, pid: first.proc.pid(), others: others, client: f.client, source: sources,
		}); err != nil {
			return err
		}
	}
	return nil
}

// rawPostgres measures PostgreSQL alone: a row a transaction, durable, from so many clients.
func rawPostgres(ctx context.Context, cluster *postgres, name string, clients int, warm, window time.Duration) (*result, error) {
	if err := cluster.exec(ctx, cluster.url, "DROP TABLE IF EXISTS raw",
		"CREATE TABLE raw (client BIGINT NOT NULL, number BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (client, number))"); err != nil {
		return nil, err
	}
	parts, faults := make([]*result, clients), make([]error, clients)
	cpu0, err := cluster.cpu()
	if err != nil {
		return nil, err
	}
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() { parts[i], faults[i] = rawClient(ctx, cluster.url, i, warm, window) })
	}
	running.Wait()
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("measure %s: %w", name, err)
	}
	cpu1, err := cluster.cpu()
	res := &result{name: name, clients: clients, units: 1,
		serverCPU: time.Duration(float64(cpu1-cpu0) * window.Seconds() / (window + warm).Seconds())}
	for _, part := range parts {
		res.elapsed = max(res.elapsed, part.elapsed)
		res.loadCPU = max(res.loadCPU, part.loadCPU) // each saw that of the whole process
		res.latency.merge(&part.latency)
	}
	return res, err
}

func rawClient(ctx context.Context, database string, client int, warm, window time.Duration) (*result, error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	n := 0
	return repeat(ctx, warm, window, func() error {
		n++
		_, err := conn.Exec(ctx, "INSERT INTO raw (client, number, body) VALUES ($1, $2, $3)", client, n, cardDescription)
		return err
	})
}
