// Torture breaks what the server stands on, again and again, and counts what was lost.
//
// It runs the real binary as its own processes under load, and kills them, cuts their disk off, fills it, fails its
// syncs, fails the database over, parts it from the network, sets the clock, and crowds the door. Each trial remembers
// every write that was acknowledged, with its key, id and version, and every delivery that came; afterwards it reads
// everything back. The table says for each trial the rounds, the writes that were acknowledged, those of them that are
// lost, the effects that are there twice, the events that never came, and the longest time without an acknowledgment.
//
//	make torture
//	make torture ARGS=-quick
//	go run ./torture -only 'kill|cut'
//
// It sends to the loopback interface and to network namespaces that it makes itself, and takes its mounts, namespaces and
// processes away when it ends, also when it is interrupted. It needs Linux and root, and what Debian calls xfsprogs, strace,
// iproute2, patroni, etcd-server and postgresql.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	failed, err := torture(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	binary   string // what is released
	control  string // built with the tag torture: a clock that can be set, and durability that can be taken away
	only     *regexp.Regexp
	rounds   int // 0 for as many as each trial has
	quick    bool
	markdown bool
	keep     bool
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	o := options{only: regexp.MustCompile("")}
	flags := flag.NewFlagSet("torture", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.binary, "binary", "bin/cardwall", "the server's `program`")
	flags.StringVar(&o.control, "control", "bin/cardwall-torture", "the `program` built with the tag torture")
	flags.Func("only", "run only the trials that this `regexp` matches", func(text string) (err error) {
		o.only, err = regexp.Compile(text)
		return err
	})
	flags.IntVar(&o.rounds, "rounds", 0, "so many rounds of each trial")
	flags.BoolVar(&o.quick, "quick", false, "a few rounds of each trial")
	flags.BoolVar(&o.markdown, "markdown", false, "print the table as Markdown")
	flags.BoolVar(&o.keep, "keep", false, "keep the temporary folder and say where it is")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q: only flags are allowed", flags.Arg(0))
	}
	if o.rounds < 0 {
		return o, errors.New("-rounds must not be negative")
	}
	for _, program := range []*string{&o.binary, &o.control} {
		path, err := filepath.Abs(*program)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return o, fmt.Errorf("find program (make torture builds it): %w", err)
		}
		*program = path
	}
	return o, nil
}

// torture runs the trials and prints the table. It answers whether one of them failed.
func torture(ctx context.Context, args []string, stdout, stderr io.Writer) (failed bool, err error) {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return false, err
	}
	if err := removeLeftovers(); err != nil {
		fmt.Fprintln(stderr, "torture: what an earlier run left behind stays:", err)
	}
	dir, err := newFolder(o.keep)
	if err != nil {
		return false, err
	}
	if o.keep {
		fmt.Fprintln(stderr, "the data stay in", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	var rows []outcome
	for _, t := range trials() {
		if !o.only.MatchString(t.name) {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		r := t.attempt(ctx, o, dir, stderr)
		rows = append(rows, r)
		failed = failed || len(r.faults) > 0
	}
	if len(rows) == 0 {
		return false, fmt.Errorf("-only %q matches no trial", o.only)
	}
	fmt.Fprintf(stdout, "%s; %d processors, %s/%s, %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
	if err := printTable(stdout, rows, o.markdown); err != nil {
		return false, fmt.Errorf("print table: %w", err)
	}
	return failed || ctx.Err() != nil, nil
}
