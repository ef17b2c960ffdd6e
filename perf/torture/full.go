package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"time"

	"cardwall/perf/fleet"
	"cardwall/perf/server"
)

// newCard creates a card for the trial to read.
func (w *workload) newCard() (id string, err error) {
	c := &fleet.Write{Key: rand.Text(), To: w.Confidential, Silent: true}
	if !w.Submit(w.ctx, c, 100) {
		return "", errors.New("could not create a card")
	}
	return c.ID, nil
}

// newServerOnDisk starts a server whose data is on a separate disk of the given size, and creates a card to read.
func (t *trialRun) newServerOnDisk(megabytes int) (d *disk, n *server.Server, w *workload, card string, err error) {
	if d, err = t.newDisk("disk", megabytes); err != nil {
		return nil, nil, nil, "", err
	}
	if n, err = t.newServer("data", ""); err != nil {
		return nil, nil, nil, "", err
	}
	n.Data = filepath.Join(d.folder, "data")
	if w, err = t.newWorkload(n); err != nil {
		return nil, nil, nil, "", err
	}
	card, err = w.newCard()
	return d, n, w, card, err
}

// expectRefusals sends writes and reads while the disk fails. It returns after duration has passed since the first
// refused write, or returns an error after timeout. Failed writes must return status 503, and all reads must succeed.
// If strict is set, no write may succeed after the first refusal. It is not set for a full disk, on which small writes
// can still succeed.
func (w *workload) expectRefusals(n *server.Server, card string, strict bool, timeout, duration time.Duration) error {
	deadline, since := time.Now().Add(timeout), time.Time{}
	for time.Now().Before(deadline) {
		c := &fleet.Write{Key: rand.Text(), To: w.Boards[0]}
		w.Ledger.Add(c)
		r, err := w.Send(w.ctx, n, c)
		var status fleet.StatusError
		switch {
		case err == nil && strict && !since.IsZero():
			w.Ledger.Acknowledge(c, r)
			return errors.New("a write was acknowledged although it could not be stored")
		case err == nil:
			w.Ledger.Acknowledge(c, r)
		case !errors.As(err, &status) || status.Code != 503:
			return fmt.Errorf("a write failed, but not with status 503: %w", err)
		case since.IsZero():
			since = time.Now()
		}
		if err := w.Client.Do(w.ctx, "GET", n.Addr, "/cards/"+card, "", nil, nil); err != nil {
			return fmt.Errorf("a read failed while nothing could be written: %w", err)
		}
		if !since.IsZero() && time.Since(since) >= duration {
			return nil
		}
	}
	return fmt.Errorf("no write was refused at least %v before the timeout of %v", duration, timeout)
}

// awaitWrites waits until writes are acknowledged again and returns how long this took.
func (w *workload) awaitWrites(timeout time.Duration) (time.Duration, error) {
	begin, before := time.Now(), w.Ledger.Acknowledged()
	err := w.waitUntil("writes were not acknowledged again", timeout, func() bool {
		return w.Ledger.Acknowledged() > before+fleet.Writers
	})
	return time.Since(begin), err
}

// fillDisk repeatedly fills the disk under load and then frees the space.
func fillDisk(t *trialRun) error {
	d, n, w, card, err := t.newServerOnDisk(400)
	if err != nil {
		return err
	}
	stop := w.StartWriters(5 * time.Millisecond)
	defer stop()
	var slowest time.Duration
	if err := t.eachRound(func(int) error {
		if err := t.sleep(time.Duration(mathrand.IntN(200)) * time.Millisecond); err != nil {
			return err
		}
		if err := d.fill(); err != nil {
			return err
		}
		err := w.expectRefusals(n, card, false, time.Minute, time.Second)
		if err := errors.Join(err, d.free()); err != nil {
			return err
		}
		took, err := w.awaitWrites(10 * time.Second)
		slowest = max(slowest, took)
		return err
	}); err != nil {
		return err
	}
	stop()
	if err := w.audit(); err != nil {
		return err
	}
	t.unavailable = 0 // the server is unavailable while the disk is full
	t.note = "writes succeed at most " + seconds(slowest) + " s after space is freed"
	return nil
}
