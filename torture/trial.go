package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// trial is one way to break things.
type trial struct {
	name   string
	rounds int // of a whole run
	quick  int // of a quick one
	run    func(t *torment) error
}

func trials() []trial {
	return []trial{
		{"kill -9 of SQLite", 200, 8, killServer},
		{"filesystem cut", 50, 4, cutDisk},
		{"filesystem cut, control that must lose", 50, 12, cutControl},
		{"full disk", 20, 2, fillDisk},
		{"failing fsync", 20, 3, failSync},
		{"fail-over of PostgreSQL", 20, 2, failOver},
		{"three nodes, killed and cut off", 20, 3, breakNodes},
		{"clock steps", 12, 4, stepClock},
		{"10,000 slow connections", 1, 1, crowd},
		{"five-fold load", 1, 1, overload},
		{"revoked token on three nodes", 20, 5, revokeTokens},
		{"72 virtual hours", 1, 1, virtualHours},
	}
}

// outcome is a line of the table.
type outcome struct {
	name         string
	rounds       int
	counted      bool // acknowledged, lost, duplicated and missing mean something
	acknowledged int
	lost         int
	duplicated   int
	missing      int           // events
	unavailable  time.Duration // the worst
	note         string
	faults       []string
	took         time.Duration
}

// torment is a trial under way.
type torment struct {
	outcome
	options
	ctx  context.Context
	dir  string // of this trial alone
	log  io.Writer
	ends []func() error
}

// attempt runs a trial, and takes away what it made whatever becomes of it.
func (tr trial) attempt(ctx context.Context, o options, dir string, log io.Writer) outcome {
	t := &torment{outcome: outcome{name: tr.name}, options: o, ctx: ctx, log: log,
		dir: filepath.Join(dir, strings.Map(plain, strings.ToLower(tr.name)))}
	rounds := tr.rounds
	if o.quick {
		rounds = tr.quick
	}
	if o.rounds > 0 {
		rounds = min(o.rounds, rounds)
	}
	t.options.rounds = rounds
	fmt.Fprintf(log, "%s: %d rounds\n", tr.name, rounds)
	begun := time.Now()
	err := os.Mkdir(t.dir, 0o755) // a server of another user's lives in it
	if err == nil {
		err = tr.run(t)
	}
	if err == nil {
		err = ctx.Err()
	}
	for i := len(t.ends) - 1; i >= 0; i-- {
		err = errors.Join(err, t.ends[i]())
	}
	if err != nil {
		t.fault("%v", err)
	}
	t.took = time.Since(begun)
	fmt.Fprintf(log, "%s: %s after %v\n", tr.name, t.verdict(), t.took.Round(time.Second))
	for _, f := range t.faults {
		fmt.Fprintln(log, "  ", f)
	}
	return t.outcome
}

// plain makes a trial's name one of a folder.
func plain(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// atEnd has something taken away when the trial ends, the latest first.
func (t *torment) atEnd(end func() error) { t.ends = append(t.ends, end) }

// faultsMost is how many faults of one trial are told.
const faultsMost = 8

// fault notes what must not be.
func (t *torment) fault(format string, args ...any) {
	switch n := len(t.faults); {
	case n < faultsMost:
		t.faults = append(t.faults, fmt.Sprintf(format, args...))
	case n == faultsMost:
		t.faults = append(t.faults, "… and more")
	}
}

// say tells what goes on.
func (t *torment) say(format string, args ...any) {
	fmt.Fprintf(t.log, "  "+format+"\n", args...)
}

func (o *outcome) verdict() string {
	if len(o.faults) > 0 {
		return "FAIL"
	}
	return "pass"
}

// each runs the rounds until the trial is interrupted.
func (t *torment) each(round func(n int) error) error {
	for n := range t.options.rounds {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		if err := round(n); err != nil {
			return fmt.Errorf("round %d: %w", n+1, err)
		}
		t.outcome.rounds++
	}
	return nil
}

// rest waits, or answers that the trial was interrupted.
func (t *torment) rest(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}

// until asks again and again until a condition holds.
func (t *torment) until(what string, most time.Duration, holds func() bool) error {
	for deadline := time.Now().Add(most); !holds(); {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within %v", what, most)
		}
		if err := t.rest(20 * time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
