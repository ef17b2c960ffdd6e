// Bench measures the performance of the server and the limits of the machine.
//
// It sends requests to the real binary over keep-alive HTTP/1.1 on the loopback interface. The data folder is empty at
// first and is filled through the REST API. The same run also measures bare net/http, raw SQLite, and fsync on the same
// disk. The load generator and the server share the processors, so compare a result with the machine's limit in the
// same table. The server's processor time per request varies least between runs.
//
// For each benchmark, the table shows the successful operations per second, their latency quantiles and the number of
// errors. It also shows the processor time per operation of the server and of the load generator. "bare" is a net/http
// server or client that does only what the same response or delivery requires. "raw" is a database alone: SQLite
// durably writes a card and its event, and PostgreSQL one row. The table marks missed goals. They fail the run only
// with -strict, because timings depend on the machine. An error always fails the run.
//
// The reports are measured with one client on a second server, with 100,000 cards imported from generated documents.
// The export is measured on a third server with the largest board that the default limits allow: 5,000 open and 195,000
// archived cards. Each of these servers is filled only if one of its benchmarks is requested. Files of 100 MB are
// uploaded and downloaded on a fourth server.
//
//	go run ./perf/bench -binary bin/cardwall
//	go run ./perf/bench -only 'get_card|bare' -seconds 10
//	go run ./perf/bench -only 'search|dashboard|calendar|filter cards'
//	go run ./perf/bench -only mcp
//	go run ./perf/bench -only 'automation|1,000/s$'
//	go run ./perf/bench -only overload
//	go run ./perf/bench -only webhooks
//	go run ./perf/bench -only 'webhooks, takeover' -database postgres
//	go run ./perf/bench -only soak -seconds 600
//	go run ./perf/bench -only export
//	go run ./perf/bench -only files,
//	go run ./perf/bench -only neighbor
//	go run ./perf/bench -only neighbor -database postgres
//	go run ./perf/bench -only 'large, 8 greedy searches'
//	go run ./perf/bench -only retention -database postgres
//	go run ./perf/bench -markdown > table.md
//	go run ./perf/bench -database postgres -nodes 1,3
//	go run ./perf/bench -only large -database postgres
//	go run ./perf/bench -save run.json
//	go run ./perf/bench -against run.json
//
// With -database postgres, the benchmarks of single operations, "neighbor", "large" and "retention" also run on
// PostgreSQL, in temporary clusters that tools/with-postgres starts. The clusters have the default durability settings
// and store their data in TMPDIR. Single operations are measured with each number of servers in -nodes. The servers
// share a database, and clients are distributed over them. The processor time includes all servers and PostgreSQL.
// "webhooks, takeover" kills one of two servers and shows the longest delay of a delivery.
//
// "large" compares an installation of a million cards with one of 50,000. "large", "retention" and "soak" take long, so
// they run only if -only is set.
//
// The neighbor table shows how long get_card, update_card and sign-in take for people in other workspaces. Meanwhile, a
// neighbor searches, exports, uploads, imports or copies as much as its plan allows. Requests are due at a fixed rate,
// and the latency of a request is measured from its due time. A stall therefore counts for every request that it
// delays. The retention row shows the same latencies while the server removes the older half of ten years of activity.
//
// With -against, the table is followed by a comparison with an earlier run that -save wrote, as ratios to the limits of
// each run. Run both on an otherwise idle machine.
//
// Bench needs Linux.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"cardwall/perf/cli"
	"cardwall/perf/folder"
	"cardwall/perf/limits"
)

// stopTimeout is how long a program may take to exit after SIGTERM.
const stopTimeout = 10 * time.Second

func main() {
	if len(os.Args) == 4 && os.Args[1] == limits.ServerCommand {
		if err := limits.RunServer(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "bench: bare server:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 3 && os.Args[1] == limits.HookCommand {
		if err := limits.RunHooks(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "bench: bare client:", err)
			os.Exit(1)
		}
		return
	}
	cli.Main("bench", bench)
}

// options holds the flags.
type options struct {
	cli.Options
	clients  int
	warm     time.Duration
	window   time.Duration
	strict   bool
	postgres bool
	nodes    []int  // numbers of servers per PostgreSQL database, each of which is measured
	large    int    // number of workspaces in the large installation
	save     string // file to write the results to
	against  string // file with the results of an earlier run
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	o := options{warm: time.Second, nodes: []int{1, 3}}
	flags := cli.NewFlags("bench", &o.Options, stderr)
	seconds := flags.Float64("seconds", 5, "duration of each benchmark, after a warm-up of one second")
	flags.IntVar(&o.clients, "clients", goalClients, "number of concurrent clients; most goals apply only to "+strconv.Itoa(goalClients))
	flags.Func("database", "sqlite, or postgres to also measure PostgreSQL in a temporary cluster (default sqlite)", func(text string) error {
		o.postgres = text == "postgres"
		if !o.postgres && text != "sqlite" {
			return errors.New("must be sqlite or postgres")
		}
		return nil
	})
	flags.Func("nodes", "comma-separated numbers of `servers` that share one PostgreSQL database (default 1,3)", func(text string) error {
		o.nodes = nil
		for _, number := range strings.Split(text, ",") {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > 16 {
				return errors.New("must be numbers from 1 to 16, separated by commas")
			}
			o.nodes = append(o.nodes, n)
		}
		return nil
	})
	flags.IntVar(&o.large, "large", largeWorkspaces, "number of `workspaces` of 50,000 cards in the large installation")
	flags.BoolVar(&o.strict, "strict", false, "fail if a goal is missed")
	flags.StringVar(&o.save, "save", "", "write the results to this `file`, for -against")
	flags.StringVar(&o.against, "against", "", "compare with the results in this `file`, as ratios to the machine's limits; fail if "+
		"a benchmark is more than 15% worse")
	if err := cli.Parse(flags, args); err != nil {
		return o, err
	}
	if o.clients < 1 || o.clients > 500 {
		return o, errors.New("-clients must be from 1 to 500")
	}
	if o.large < 2 || o.large > 200 {
		return o, errors.New("-large must be from 2 to 200")
	}
	if *seconds < 0.1 || *seconds > 3600 {
		return o, errors.New("-seconds must be from 0.1 to 3600")
	}
	o.window = time.Duration(*seconds * float64(time.Second))
	return o, nil
}

// bench runs the benchmarks and prints the tables, even if a benchmark fails. It reports whether a benchmark had
// errors, missed a goal with -strict, or lost too much with -against.
func bench(ctx context.Context, args []string, stdout, stderr io.Writer) (failed bool, err error) {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "cardwall-bench-")
	if err != nil {
		return false, fmt.Errorf("create temporary folder: %w", err)
	}
	if o.Keep {
		fmt.Fprintln(stderr, "the data is kept in", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}

	// Client names are part of the idempotency keys. The random part keeps the keys unique if another run sends
	// requests to the data of a kept folder.
	var clients atomic.Int64
	run := "bench-" + rand.Text()[:8]
	s := &suite{options: o, dir: dir, log: stderr, names: func() string {
		return run + "-" + strconv.FormatInt(clients.Add(1), 10)
	}}
	runErr := s.run(ctx)
	addGoals(s.rows)
	if len(s.rows) > 0 {
		fmt.Fprintf(stdout, "%s\n\n", conditions(o, dir))
		if err := printTable(stdout, s.rows, o.Markdown); err != nil {
			return false, fmt.Errorf("print table: %w", err)
		}
	}
	if len(s.neighbors) > 0 {
		if len(s.rows) == 0 {
			fmt.Fprintf(stdout, "%s\n", conditions(o, dir))
		}
		fmt.Fprintln(stdout)
		if err := printNeighbors(stdout, s.neighbors, o.Markdown); err != nil {
			return false, fmt.Errorf("print table: %w", err)
		}
	}
	if lost, err := s.compare(stdout, conditions(o, dir)); err != nil || lost {
		failed, runErr = true, errors.Join(runErr, err)
	}
	for _, r := range s.neighbors {
		failed = failed || r.errors() > 0 || o.strict && r.missed()
	}
	for _, r := range s.rows {
		failed = failed || r.result != nil && r.result.errors > 0 || o.strict && r.missed()
	}
	if runErr == nil && len(s.rows)+len(s.neighbors) == 0 {
		runErr = fmt.Errorf("-only %q matches no benchmark", o.Only)
	}
	return failed, runErr
}

// conditions describes the machine and the settings of the run.
func conditions(o options, dir string) string {
	text := fmt.Sprintf("%d processors%s, %s/%s, %s; %d clients, %v per benchmark after %v of warm-up.",
		runtime.NumCPU(), processorModel(), runtime.GOOS, runtime.GOARCH, runtime.Version(), o.clients, o.window, o.warm)
	if o.clients != goalClients {
		text += fmt.Sprintf(" Goals for %d clients are omitted.", goalClients)
	}
	if o.window < 5*time.Second {
		text += " Processor times are inaccurate, because each benchmark took less than five seconds."
	}
	if folder.InMemory(dir) {
		text += " The temporary folder is in memory, so no write is durable; set TMPDIR to a folder on a disk."
	}
	return text
}

// processorModel returns the name of the processor in parentheses, or an empty string if it is unknown.
func processorModel() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return " (" + strings.TrimSpace(value) + ")"
		}
	}
	return ""
}
