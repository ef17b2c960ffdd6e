package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// killServer kills the server on SQLite with SIGKILL in load, again and again.
func killServer(t *torment) error {
	n, err := t.newNode("data", "")
	if err != nil {
		return err
	}
	s, err := t.newSite(n)
	if err != nil {
		return err
	}
	stop := s.load(0)
	defer stop()
	if err := t.each(func(int) error {
		if err := t.rest(time.Duration(50+rand.IntN(250)) * time.Millisecond); err != nil {
			return err
		}
		n.kill()
		return n.start(t.ctx)
	}); err != nil {
		return err
	}
	stop()
	if err := s.audit(); err != nil {
		return err
	}
	t.note = fmt.Sprintf("%d deliveries, %d came again", len(s.receiver.taken), s.receiver.repeated())
	return nil
}
