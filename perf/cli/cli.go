// Package cli contains the command-line code shared by the programs in perf.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// Main calls run. SIGINT and SIGTERM cancel the context of run. Main exits with status 1 if run reports a failure, and
// with status 2 if run returns an error other than flag.ErrHelp. Otherwise it returns.
func Main(name string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) (failed bool, err error)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	failed, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(2)
	case failed:
		os.Exit(1)
	}
}

// Options holds the flags that all programs have in common.
type Options struct {
	Binary   string         // the server under test
	Only     *regexp.Regexp // matches the names of the benchmarks or trials to run
	Markdown bool           // print the table as Markdown
	Keep     bool           // keep the temporary folder
}

// NewFlags returns a flag set that stores the common flags in o.
func NewFlags(name string, o *Options, stderr io.Writer) *flag.FlagSet {
	o.Only = regexp.MustCompile("")
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.Binary, "binary", "bin/cardwall", "the server `program`")
	flags.Func("only", "run only benchmarks or trials whose name matches this `regexp`", func(text string) (err error) {
		o.Only, err = regexp.Compile(text)
		return err
	})
	flags.BoolVar(&o.Markdown, "markdown", false, "print the table as Markdown")
	flags.BoolVar(&o.Keep, "keep", false, "keep the temporary folder and print its path")
	return flags
}

// Parse parses the flags. It returns an error if there are other arguments.
func Parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: only flags are allowed", flags.Arg(0))
	}
	return nil
}
