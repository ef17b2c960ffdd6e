package main

import (
	"math/rand/v2"
	"time"
)

// killServer repeatedly kills a server on SQLite with SIGKILL under load.
func killServer(t *trialRun) error {
	n, err := t.newServer("data", "")
	if err != nil {
		return err
	}
	w, err := t.newWorkload(n)
	if err != nil {
		return err
	}
	stop := w.StartWriters(0)
	defer stop()
	if err := t.eachRound(func(int) error {
		if err := t.sleep(time.Duration(50+rand.IntN(250)) * time.Millisecond); err != nil {
			return err
		}
		n.Kill()
		return start(t.ctx, n)
	}); err != nil {
		return err
	}
	stop()
	if err := w.audit(); err != nil {
		return err
	}
	t.note = w.Receiver.Summary()
	return nil
}
