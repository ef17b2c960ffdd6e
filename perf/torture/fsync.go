package main

import (
	"errors"
	"time"
)

// failSync repeatedly makes every sync of the server fail for a while. Everything that is written after the disk
// recovers must survive a power cut. In every second round, the server is killed before the disk recovers. The next
// server must not trust the data that it finds.
func failSync(t *trialRun) error {
	d, n, w, card, err := t.newServerOnDisk(640)
	if err != nil {
		return err
	}
	stop := w.StartWriters(5 * time.Millisecond)
	defer stop()
	if err := t.eachRound(func(round int) error {
		tracer, err := t.failSyncs(n.Process.PID())
		if err != nil {
			return err
		}
		err = w.expectRefusals(n, card, true, 20*time.Second, 500*time.Millisecond)
		if err == nil && n.Ready() {
			err = errors.New("the server is ready while no write can be made durable")
		}
		if round%2 == 1 {
			n.Kill()
		}
		if err := errors.Join(err, tracer.Stop(10*time.Second)); err != nil {
			return err
		}
		if round%2 == 1 {
			if err := start(t.ctx, n); err != nil {
				return err
			}
		}
		if _, err := w.awaitWrites(15 * time.Second); err != nil {
			return err
		}
		if err := t.sleep(200 * time.Millisecond); err != nil {
			return err
		}
		if err := n.Process.Freeze(); err != nil {
			return err
		}
		if err := d.cut(); err != nil {
			return err
		}
		n.Kill()
		if err := d.recover(); err != nil {
			return err
		}
		return start(t.ctx, n)
	}); err != nil {
		return err
	}
	stop()
	if err := w.audit(); err != nil {
		return err
	}
	t.unavailable = 0 // the server is unavailable while syncs fail
	t.note = "in every second round, the server is killed before the disk recovers; a power cut follows each round"
	return nil
}
