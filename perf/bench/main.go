// Bench measures how fast the server is, and what the machine itself can do.
//
// It loads the real binary over keep-alive HTTP/1.1 on the loopback interface. The data folder is empty at first and is
// filled through the REST API. The same run measures bare net/http, raw SQLite and the rate of fsync on the same disk.
// Load and server share the processors, so a figure means most as a ratio to the machine's limit in the same table. The
// server's processor time per request varies least between runs.
//
// For each measure the table shows the successful operations per second, the quantiles of their latency, the errors, and
// the processor time of the server and of the load per operation. "bare" is a net/http server that does the least that
// the same response needs; "raw" is the database alone, which durably writes a card and its event. A missed goal is
// printed. It fails the run only with -strict, because timings depend on the machine. An error always fails the run.
//
// The reports are measured with one client on a second server, whose 100,000 cards are imported from generated documents.
// The export is measured on a third server with the largest board that the default limits allow: 5,000 open and 195,000
// archived cards. Both are filled only if such a measure is requested.
//
//	go run ./perf/bench -binary bin/cardwall
//	go run ./perf/bench -only 'get_card|bare' -seconds 10
//	go run ./perf/bench -only 'search|dashboard|calendar|filter cards'
//	go run ./perf/bench -only mcp
//	go run ./perf/bench -only 'automation|1,000/s$'
//	go run ./perf/bench -only overload
//	go run ./perf/bench -only webhooks
//	go run ./perf/bench -only soak -seconds 600
//	go run ./perf/bench -only export
//	go run ./perf/bench -only neighbor
//	go run ./perf/bench -only neighbor -database postgres
//	go run ./perf/bench -only 'large, 8 greedy searches'
//	go run ./perf/bench -only retention -database postgres
//	go run ./perf/bench -markdown > table.md
//	go run ./perf/bench -database postgres -nodes 1,3
//	go run ./perf/bench -only large -database postgres
//
// With -database postgres the measures run on PostgreSQL too, in a cluster that tools/with-postgres starts for the run. It
// has the default durability and keeps its data below TMPDIR. Clients are distributed over the servers, and the processor
// time includes all servers and PostgreSQL. "large" compares an installation of a million cards with one of 50,000.
//
// The neighbor table shows how long get_card, update_card and sign-in take for people in other workspaces while a neighbor
// searches, exports, uploads, imports or copies as much as its plan allows. These requests arrive at a fixed rate. A request's
// time begins when it is due, so a stall counts for every request that it delays. The retention row shows the same while the
// server removes half of ten years of activity.
//
// It needs Linux.
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
)

// stopTimeout is how long a program may take to end after SIGTERM.
const stopTimeout = 10 * time.Second

func main() {
	if len(os.Args) == 4 && os.Args[1] == limitServerCommand {
		if err := runLimitServer(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "bench: bare server:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 3 && os.Args[1] == bareHookCommand {
		if err := runBareHooks(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "bench: bare client:", err)
			os.Exit(1)
		}
		return
	}
	cli.Main("bench", bench)
}

// options are the flags.
type options struct {
	cli.Options
	clients  int
	warm     time.Duration
	window   time.Duration
	strict   bool
	postgres bool
	nodes    []int // numbers of servers that share one PostgreSQL, a measurement each
	large    int   // workspaces of the large installation
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	o := options{warm: time.Second, nodes: []int{1, 3}}
	flags := cli.NewFlags("bench", &o.Options, stderr)
	seconds := flags.Float64("seconds", 5, "duration of each measure, after a warm-up of one second")
	flags.IntVar(&o.clients, "clients", goalClients, "number of concurrent clients; the goals are for "+strconv.Itoa(goalClients))
	flags.Func("database", "sqlite, or postgres to measure both, with a cluster made for the run (default sqlite)", func(text string) error {
		o.postgres = text == "postgres"
		if !o.postgres && text != "sqlite" {
			return errors.New("must be sqlite or postgres")
		}
		return nil
	})
	flags.Func("nodes", "comma-separated numbers of `servers` that share PostgreSQL (default 1,3)", func(text string) error {
		o.nodes = nil
		for _, word := range strings.Split(text, ",") {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > 16 {
				return errors.New("must be numbers from 1 to 16, separated by commas")
			}
			o.nodes = append(o.nodes, n)
		}
		return nil
	})
	flags.IntVar(&o.large, "large", largeWorkspaces, "number of `workspaces` of 50,000 cards in the large installation")
	flags.BoolVar(&o.strict, "strict", false, "fail if a goal is missed")
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

// bench runs the measures and prints the table, even if a measure fails. It reports whether there was an error in a
// measure or, with -strict, a missed goal.
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

	// The names of the clients are part of the idempotency keys, which must not repeat in a folder that is kept.
	var clients atomic.Int64
	run := "bench-" + rand.Text()[:8]
	s := &suite{options: o, dir: dir, log: stderr, names: func() string {
		return run + "-" + strconv.FormatInt(clients.Add(1), 10)
	}}
	runErr := s.run(ctx)
	judge(s.rows)
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
	for _, r := range s.neighbors {
		failed = failed || r.errors() > 0 || o.strict && r.missed()
	}
	for _, r := range s.rows {
		failed = failed || r.result != nil && r.result.errors > 0 || o.strict && r.missed()
	}
	if runErr == nil && len(s.rows)+len(s.neighbors) == 0 {
		runErr = fmt.Errorf("-only %q matches no measure", o.Only)
	}
	return failed, runErr
}

// conditions describes the machine and the settings of the run.
func conditions(o options, dir string) string {
	text := fmt.Sprintf("%d processors%s, %s/%s, %s; %d clients, %v per measure after %v of warm-up.",
		runtime.NumCPU(), processorModel(), runtime.GOOS, runtime.GOARCH, runtime.Version(), o.clients, o.window, o.warm)
	if o.clients != goalClients {
		text += fmt.Sprintf(" Goals for %d clients are omitted.", goalClients)
	}
	if o.window < 5*time.Second {
		text += " Processor times are coarse, because a measure took less than five seconds."
	}
	if isInMemory(dir) {
		text += " The temporary folder is in memory, so no write is durable; set TMPDIR to a folder on a disk."
	}
	return text
}

// processorModel returns the processor's name in parentheses, or an empty string if it is unknown.
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
