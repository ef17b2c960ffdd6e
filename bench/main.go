// Bench measures how fast the server is, beside what the machine can do at all.
//
// It loads the real binary over keep-alive HTTP/1.1 on the loopback interface, with an empty data folder that it fills
// through the REST interface, and then measures, in the same run, bare net/http, raw SQLite and the rate of fsync on
// the same disk. Load and server share the processors, so a figure means most as a ratio to the machine's limit in the
// same table, and the processor time of the server for one request is the steadiest of all.
//
// The table says for each measure the good operations a second, the quantiles of their latency, the errors, and the
// processor time of the server and of the load for one operation. "bare" is a server of net/http that does the least that
// the same answer needs; "raw" is SQLite alone, which writes a card and its event, durable. A missed goal is printed and fails
// nothing unless
// -strict is given, because a benchmark is no timed test; an error does fail.
//
// The reports are measured with one client, on a second server whose 100,000 cards are imported from documents made up
// for it, and the export on a third, of the largest board that the default limits allow: 5,000 open cards and 195,000
// archived ones. They are filled only when such a measure is asked for.
//
//	go run ./bench -binary bin/cardwall
//	go run ./bench -only 'get_card|bare' -seconds 10
//	go run ./bench -only 'search|dashboard|calendar|filter cards'
//	go run ./bench -only mcp
//	go run ./bench -only 'automation|1,000/s$'
//	go run ./bench -only overload
//	go run ./bench -only webhooks
//	go run ./bench -only soak -seconds 600
//	go run ./bench -only export
//	go run ./bench -markdown > table.md
//	go run ./bench -database postgres -nodes 1,3
//	go run ./bench -only large -database postgres
//
// With -database postgres the servers are measured on a PostgreSQL too, in a cluster that tools/with-postgres makes for
// the run: durable as it comes, on the disk of TMPDIR. Requests go to its servers by turns, and the processor time is
// that of all of them and of PostgreSQL. "large" is an installation of a million cards beside one of 50,000.
//
// It needs the /proc of Linux.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	failed, err := bench(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	binary   string
	clients  int
	only     *regexp.Regexp
	warm     time.Duration
	window   time.Duration
	markdown bool
	keep     bool
	strict   bool
	postgres bool
	nodes    []int // servers on one PostgreSQL, a measurement each
	large    int   // workspaces of the large installation
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	o := options{warm: time.Second, only: regexp.MustCompile("")}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.binary, "binary", "bin/cardwall", "the server's `program`")
	seconds := flags.Float64("seconds", 5, "how long each measure takes, after one second that does not count")
	flags.IntVar(&o.clients, "clients", goalClients, "how many clients ask at once; the goals are for "+strconv.Itoa(goalClients))
	flags.Func("only", "measure only what this `regexp` matches", func(text string) (err error) {
		o.only, err = regexp.Compile(text)
		return err
	})
	flags.Func("database", "sqlite, or postgres: that beside it, on a cluster made for the run (default sqlite)", func(text string) error {
		o.postgres = text == "postgres"
		if !o.postgres && text != "sqlite" {
			return errors.New("it is sqlite or postgres")
		}
		return nil
	})
	o.nodes = []int{1, 3}
	flags.Func("nodes", "how many `servers` share the PostgreSQL, several with commas between (default 1,3)", func(text string) error {
		o.nodes = nil
		for _, word := range strings.Split(text, ",") {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > 16 {
				return errors.New("numbers from 1 to 16, with commas between")
			}
			o.nodes = append(o.nodes, n)
		}
		return nil
	})
	flags.IntVar(&o.large, "large", largeWorkspaces, "how many `workspaces` of 50,000 cards the large installation has")
	flags.BoolVar(&o.markdown, "markdown", false, "print the table as Markdown")
	flags.BoolVar(&o.keep, "keep", false, "keep the temporary folder and say where it is")
	flags.BoolVar(&o.strict, "strict", false, "fail when a goal is missed")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q: only flags are allowed", flags.Arg(0))
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

// bench runs the measures and prints the table. It answers whether an error was counted or, with -strict, a goal was
// missed. What was measured before a failure is printed too.
func bench(ctx context.Context, args []string, stdout, stderr io.Writer) (failed bool, err error) {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "cardwall-bench-")
	if err != nil {
		return false, fmt.Errorf("make temporary folder: %w", err)
	}
	if o.keep {
		fmt.Fprintln(stderr, "the data stay in", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}

	// The names of the clients begin the idempotency keys, which must not come again in a kept folder.
	var clients atomic.Int64
	run := rand.Text()[:8]
	s := &suite{options: o, dir: dir, log: stderr, names: func() string {
		return run + "-" + strconv.FormatInt(clients.Add(1), 10)
	}}
	runErr := s.run(ctx)
	judge(s.rows)
	if len(s.rows) > 0 {
		fmt.Fprintf(stdout, "%s\n\n", conditions(o, dir))
		if err := printTable(stdout, s.rows, o.markdown); err != nil {
			return false, fmt.Errorf("print table: %w", err)
		}
	}
	for _, r := range s.rows {
		failed = failed || r.result != nil && r.result.errors > 0 || o.strict && r.missed()
	}
	if runErr == nil && len(s.rows) == 0 {
		runErr = fmt.Errorf("-only %q matches no measure", o.only)
	}
	return failed, runErr
}

// conditions says under what the figures were taken.
func conditions(o options, dir string) string {
	text := fmt.Sprintf("%d processors%s, %s/%s, %s; %d clients, %v a measure after %v of warm-up.",
		runtime.NumCPU(), processorModel(), runtime.GOOS, runtime.GOARCH, runtime.Version(), o.clients, o.window, o.warm)
	if o.clients != goalClients {
		text += fmt.Sprintf(" The goals for %d clients are left out.", goalClients)
	}
	if o.window < 5*time.Second {
		text += " Under five seconds the processor times are coarse."
	}
	if isMemoryBacked(dir) {
		text += " The temporary folder is in memory, so nothing here is durable: set TMPDIR to a folder on a disk."
	}
	return text
}

// processorModel answers the processor's name in brackets, or nothing.
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
