// Torture breaks what the server depends on, again and again, and counts what was lost.
//
// It runs the real binary as separate processes under load, kills them, cuts off their disk, fills it, makes its
// syncs fail, fails the database over, disconnects it from the network, sets the clock, overloads the server, and
// gives it a greedy neighbor. Each trial records every acknowledged write with its key, id and version, and every
// delivery that arrived. Afterwards it reads everything back. For each trial, the table shows the rounds, the
// acknowledged writes, those that were lost, the effects that happened twice, the events that were not delivered,
// and the longest time without an acknowledgment.
//
//	make torture
//	make torture ARGS=-quick
//	go run ./perf/torture -only 'kill|cut'
//
// It sends only to the loopback interface and to network namespaces that it creates. It removes its mounts, namespaces and
// processes when it ends, even if it is interrupted. It needs Linux, root, and the Debian packages xfsprogs, strace,
// iproute2, patroni, etcd-server, postgresql and sqlite3.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"cardwall/perf/cli"
	"cardwall/perf/server"
)

func main() { cli.Main("torture", torture) }

// options are the flags.
type options struct {
	cli.Options
	control string // the server built with the tag torture: its clock can be set, and its durability turned off
	rounds  int    // of each trial at most; 0 for the trial's own number
	quick   bool
}

func parseOptions(args []string, stderr io.Writer) (o options, err error) {
	flags := cli.NewFlags("torture", &o.Options, stderr)
	flags.StringVar(&o.control, "control", "bin/cardwall-torture", "the server `program` built with the tag torture")
	flags.IntVar(&o.rounds, "rounds", 0, "maximum number of rounds of each trial")
	flags.BoolVar(&o.quick, "quick", false, "run only a few rounds of each trial")
	if err := cli.Parse(flags, args); err != nil {
		return o, err
	}
	if o.rounds < 0 {
		return o, errors.New("-rounds must not be negative")
	}
	if o.Binary, err = server.FindBinary(o.Binary); err != nil {
		return o, err
	}
	o.control, err = server.FindBinary(o.control)
	return o, err
}

// torture runs the trials and prints the table. It reports whether a trial failed.
func torture(ctx context.Context, args []string, stdout, stderr io.Writer) (failed bool, err error) {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return false, err
	}
	if err := removeLeftovers(); err != nil {
		fmt.Fprintln(stderr, "torture: could not remove everything that an earlier run left:", err)
	}
	dir, err := newFolder(o.Keep)
	if err != nil {
		return false, err
	}
	if o.Keep {
		fmt.Fprintln(stderr, "the data is kept in", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	var rows []outcome
	for _, t := range trials() {
		if !o.Only.MatchString(t.name) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		r := t.execute(ctx, o, dir, stderr)
		rows = append(rows, r)
		failed = failed || len(r.failures) > 0
	}
	if len(rows) == 0 {
		return false, fmt.Errorf("-only %q matches no trial", o.Only)
	}
	fmt.Fprintf(stdout, "%s; %d processors, %s/%s, %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
	if err := printTable(stdout, rows, o.Markdown); err != nil {
		return false, fmt.Errorf("print table: %w", err)
	}
	return failed || ctx.Err() != nil, nil
}
