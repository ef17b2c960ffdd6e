package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// steps returns the offsets of the clock from the real time. Idempotency keys remain valid for a day, which is longer
// than any step.
func steps() []time.Duration {
	return []time.Duration{3 * time.Hour, 0, -2 * time.Hour, 5 * time.Hour, 4 * time.Hour, -3 * time.Hour, 8 * time.Hour,
		30 * time.Minute, 0, 90 * time.Second, -time.Hour, 0}
}

const (
	maxStepOutage   = 5 * time.Second // longest allowed time without an acknowledgment
	maxStepAttempts = 6               // for one delivery; the receiver refuses at most one attempt, and kills may cause duplicates
)

// stepClock moves the server's clock forward and backward by up to 11 hours under load. It kills and restarts the
// server after every third step.
func stepClock(t *trialRun) error {
	file := filepath.Join(t.dir, "clock")
	if err := os.WriteFile(file, []byte("0s"), 0o600); err != nil {
		return err
	}
	n, err := t.newServer("data", "", "CARDWALL_TORTURE_CLOCK="+file)
	if err != nil {
		return err
	}
	n.Binary = t.control
	w, err := t.newWorkload(n)
	if err != nil {
		return err
	}
	if err := w.AddRule(w.Boards[0]); err != nil {
		return err
	}
	stop := w.StartWriters(5 * time.Millisecond)
	defer stop()
	if err := t.eachRound(func(round int) error {
		if err := t.sleep(time.Duration(1000+rand.IntN(1000)) * time.Millisecond); err != nil {
			return err
		}
		if err := os.WriteFile(file+".new", []byte(steps()[round%len(steps())].String()), 0o600); err != nil {
			return err
		}
		if err := os.Rename(file+".new", file); err != nil {
			return err
		}
		if round%3 == 2 {
			n.Kill()
			return start(t.ctx, n)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := t.sleep(2 * time.Second); err != nil {
		return err
	}
	stop()
	if err := w.audit(); err != nil {
		return err
	}
	if t.unavailable > maxStepOutage {
		t.fail("no write was acknowledged for %v, want at most %v", t.unavailable, maxStepOutage)
	}
	if attempts := w.Receiver.MaxAttempts(); attempts > maxStepAttempts {
		t.fail("a delivery was attempted %d times, want at most %d", attempts, maxStepAttempts)
	}
	t.note = fmt.Sprintf("%s, at most %d attempts per delivery", w.Receiver.Summary(), w.Receiver.MaxAttempts())
	return nil
}
