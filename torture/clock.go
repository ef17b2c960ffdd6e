package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// steps are where the clock is set, from where it was at first. All of them are within the day that keys live.
func steps() []time.Duration {
	return []time.Duration{3 * time.Hour, 0, -2 * time.Hour, 5 * time.Hour, 4 * time.Hour, -3 * time.Hour, 8 * time.Hour,
		30 * time.Minute, 0, 90 * time.Second, -time.Hour, 0}
}

const (
	stepPause    = 5 * time.Second // without an acknowledgment, which a step must not exceed
	attemptsMost = 6               // of one delivery, of which the receiver refuses the first at most, but for kills
)

// stepClock sets the server's clock forward and back by hours in load. Every third time it is started anew behind the step.
func stepClock(t *torment) error {
	n, err := t.newNode("data", "")
	if err != nil {
		return err
	}
	file := filepath.Join(t.dir, "clock")
	if err := os.WriteFile(file, []byte("0s"), 0o600); err != nil {
		return err
	}
	n.binary, n.env = t.control, []string{"CARDWALL_TORTURE_CLOCK=" + file}
	s, err := t.newSite(n)
	if err != nil {
		return err
	}
	if err := s.rule(); err != nil {
		return err
	}
	stop := s.load(5 * time.Millisecond)
	defer stop()
	if err := t.each(func(round int) error {
		if err := t.rest(time.Duration(1000+rand.IntN(1000)) * time.Millisecond); err != nil {
			return err
		}
		if err := os.WriteFile(file+".new", []byte(steps()[round%len(steps())].String()), 0o600); err != nil {
			return err
		}
		if err := os.Rename(file+".new", file); err != nil {
			return err
		}
		if round%3 == 2 {
			n.kill()
			return n.start(t.ctx)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := t.rest(2 * time.Second); err != nil {
		return err
	}
	stop()
	if err := s.audit(); err != nil {
		return err
	}
	if t.unavailable > stepPause {
		t.fault("nobody was answered for %v", t.unavailable)
	}
	if worst := s.receiver.mostAttempts(); worst > attemptsMost {
		t.fault("a delivery was attempted %d times", worst)
	}
	t.note = fmt.Sprintf("%d deliveries, %d came again, %d attempts of one at most", len(s.receiver.taken), s.receiver.repeated(),
		s.receiver.mostAttempts())
	return nil
}
