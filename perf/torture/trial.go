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

	"cardwall/perf/fleet"
	"cardwall/perf/process"
	"cardwall/perf/server"
)

// trial is a scenario in which something breaks.
type trial struct {
	name   string
	rounds int // number of rounds in a full run
	quick  int // number of rounds with -quick
	run    func(t *trialRun) error
}

// trials returns all trials in the order of the table.
func trials() []trial {
	return []trial{
		{"kill -9 with SQLite", 200, 8, killServer},
		{"filesystem cut", 50, 4, cutDisk},
		{"filesystem cut, control that must lose", 50, 12, cutControl},
		{"full disk", 20, 2, fillDisk},
		{"failing fsync", 20, 3, failSync},
		{"files, kill -9", 60, 6, killFiles},
		{"files, filesystem cut", 30, 3, cutFiles},
		{"files, full disk", 20, 2, fillFiles},
		{"files, S3 faults", 60, 6, failBucket},
		{"PostgreSQL failover", 20, 2, failOver},
		{"three nodes, killed and cut off", 20, 3, breakNodes},
		{"greedy neighbor", 30, 4, greedyNeighbor},
		{"greedy neighbor, three nodes", 30, 4, greedyNeighborOfThree},
		{"clock steps", 12, 4, stepClock},
		{"10,000 slow connections", 1, 1, holdSlowConnections},
		{"fivefold load", 1, 1, overload},
		{"revoked token on three nodes", 20, 5, revokeTokens},
		{"72 virtual hours", 1, 1, virtualHours},
	}
}

// outcome is a row of the table.
type outcome struct {
	name         string
	rounds       int
	counted      bool // whether the following four counts apply
	acknowledged int
	lost         int
	duplicated   int
	missing      int           // events that were not delivered
	unavailable  time.Duration // longest time without an acknowledgment
	note         string
	failures     []string
	duration     time.Duration
}

// trialRun is a run of a trial.
type trialRun struct {
	outcome
	options
	ctx      context.Context
	dir      string // folder of this trial
	log      io.Writer
	cleanups []func() error
}

// execute runs the trial and then its cleanup functions, even if the trial fails.
func (tr trial) execute(ctx context.Context, o options, dir string, log io.Writer) outcome {
	t := &trialRun{outcome: outcome{name: tr.name}, options: o, ctx: ctx, log: log,
		dir: filepath.Join(dir, strings.Map(toFileName, strings.ToLower(tr.name)))}
	rounds := tr.rounds
	if o.quick {
		rounds = tr.quick
	}
	if o.rounds > 0 {
		rounds = min(o.rounds, rounds)
	}
	t.options.rounds = rounds
	fmt.Fprintf(log, "%s: %d rounds\n", tr.name, rounds)
	begin := time.Now()
	err := os.Mkdir(t.dir, 0o755) // PostgreSQL runs as another user and must be able to enter it
	if err == nil {
		err = tr.run(t)
	}
	if err == nil {
		err = ctx.Err()
	}
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		err = errors.Join(err, t.cleanups[i]())
	}
	if err != nil {
		t.fail("%v", err)
	}
	t.duration = time.Since(begin)
	fmt.Fprintf(log, "%s: %s after %v\n", tr.name, t.verdict(), t.duration.Round(time.Second))
	for _, f := range t.failures {
		fmt.Fprintln(log, "  ", f)
	}
	return t.outcome
}

// toFileName replaces characters other than lowercase letters and digits with a hyphen.
func toFileName(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// cleanup registers a function to call when the trial ends. Functions are called in reverse order.
func (t *trialRun) cleanup(f func() error) { t.cleanups = append(t.cleanups, f) }

// maxFailures is the maximum number of failures to print for each trial.
const maxFailures = 8

// fail records a failure, unless there are already maxFailures. The trial continues.
func (t *trialRun) fail(format string, args ...any) {
	switch n := len(t.failures); {
	case n < maxFailures:
		t.failures = append(t.failures, fmt.Sprintf(format, args...))
	case n == maxFailures:
		t.failures = append(t.failures, "… and more")
	}
}

// logf prints progress.
func (t *trialRun) logf(format string, args ...any) {
	fmt.Fprintf(t.log, "  "+format+"\n", args...)
}

func (o *outcome) verdict() string {
	if len(o.failures) > 0 {
		return "FAIL"
	}
	return "pass"
}

// eachRound calls round for each round. It stops if a round fails or the trial is interrupted.
func (t *trialRun) eachRound(round func(n int) error) error {
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

// sleep waits for the duration d. It returns an error if the trial is interrupted.
func (t *trialRun) sleep(d time.Duration) error { return fleet.Sleep(t.ctx, d) }

// waitUntil polls met until it returns true. After the timeout, waitUntil returns an error that begins with problem. It
// also returns an error if the trial is interrupted.
func (t *trialRun) waitUntil(problem string, timeout time.Duration, met func() bool) error {
	for deadline := time.Now().Add(timeout); !met(); {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s within %v", problem, timeout)
		}
		if err := t.sleep(20 * time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// newServer returns a server that is not running yet. Its data folder is in the folder of the trial. If database is
// empty, the server uses SQLite. Webhooks can send to this machine, and retry after short pauses. The server is killed
// when the trial ends.
func (t *trialRun) newServer(name, database string, env ...string) (*server.Server, error) {
	addr, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	n := &server.Server{
		Binary: t.Binary, Data: filepath.Join(t.dir, name), Database: database, Addr: addr, LogPath: filepath.Join(t.dir, name+".log"),
		Env: append([]string{
			"CARDWALL_MAX_OPEN_CARDS=200000", "CARDWALL_MAX_CARDS=1000000", "CARDWALL_WEBHOOK_ALLOW=127.0.0.0/8,10.77.0.0/16",
			"CARDWALL_WEBHOOK_PACE=0", "CARDWALL_WEBHOOK_RETRY_PAUSES=200ms,500ms,1s,2s,5s,10s,20s,30s",
		}, env...),
	}
	t.cleanup(func() error {
		n.Kill()
		return nil
	})
	return n, nil
}

// start starts a server and waits until it is ready.
func start(ctx context.Context, n *server.Server) error {
	_, err := n.Start(ctx)
	return err
}
