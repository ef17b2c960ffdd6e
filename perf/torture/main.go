// Torture repeatedly breaks what the server depends on and counts lost writes.
//
// It runs the real binary in separate processes under load. The trials kill servers, shut down and fill their disks,
// and make syncs fail. They do the same to the storage of attached files, and let an S3 server fail. They fail over the
// database, disconnect it from the network, change the clock, revoke tokens, overload the server, and give it a greedy
// neighbor. Most trials record every acknowledged write with its key, id and
// version, and every received delivery. Afterwards, they read all data back. For each trial, the table shows the
// rounds, the acknowledged writes and the lost writes. It also shows the duplicated effects, the events that were not
// delivered, and the longest time without an acknowledgment.
//
//	make torture
//	make torture ARGS=-quick
//	go run ./perf/torture -only 'kill|cut'
//
// Torture uses only the loopback interface, and a bridge and network namespaces that it creates. It removes its mounts,
// bridge, namespaces and processes when it exits, even if it is interrupted. It needs Linux, root, and the Debian
// packages xfsprogs, strace, iproute2, patroni, etcd-server, postgresql and sqlite3. The S3 server is
// tools/bin/versitygw.
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

// options holds the flags.
type options struct {
	cli.Options
	control string // server built with the torture tag; its clock is adjustable, and its durability can be disabled
	rounds  int    // maximum number of rounds for each trial; 0 means the trial's default
	quick   bool
}

func parseOptions(args []string, stderr io.Writer) (o options, err error) {
	flags := cli.NewFlags("torture", &o.Options, stderr)
	flags.StringVar(&o.control, "control", "bin/cardwall-torture", "the server `program` built with the torture tag")
	flags.IntVar(&o.rounds, "rounds", 0, "maximum number of rounds of each trial (default: the trial's own number)")
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

// torture runs the trials and prints the table. It reports whether a trial failed or the run was interrupted.
func torture(ctx context.Context, args []string, stdout, stderr io.Writer) (failed bool, err error) {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return false, err
	}
	if err := removeLeftovers(); err != nil {
		fmt.Fprintln(stderr, "torture: not all leftovers of earlier runs were removed:", err)
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
