// Package cli holds what the command lines of the measuring programs have in common.
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

// Main runs a program until it returns, or until SIGINT or SIGTERM cancels its context, and then exits. The exit status
// is 1 if the program reports a failure and 2 if it returns an error.
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

// Options are the flags that every program has.
type Options struct {
	Binary   string         // the server under test
	Only     *regexp.Regexp // what to run; "" matches everything
	Markdown bool           // print the table as Markdown
	Keep     bool           // keep the temporary folder
}

// NewFlags returns a set of flags that stores the common ones in o.
func NewFlags(name string, o *Options, stderr io.Writer) *flag.FlagSet {
	o.Only = regexp.MustCompile("")
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.Binary, "binary", "bin/cardwall", "the server `program`")
	flags.Func("only", "run only what this `regexp` matches", func(text string) (err error) {
		o.Only, err = regexp.Compile(text)
		return err
	})
	flags.BoolVar(&o.Markdown, "markdown", false, "print the table as Markdown")
	flags.BoolVar(&o.Keep, "keep", false, "keep the temporary folder and print its path")
	return flags
}

// Parse parses the flags and refuses other arguments.
func Parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q: only flags are allowed", flags.Arg(0))
	}
	return nil
}
