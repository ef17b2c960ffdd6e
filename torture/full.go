package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"
)

// knownCard makes a card to read.
func (s *site) knownCard() (id string, err error) {
	w := &write{key: randomKey(), to: s.secret, secret: true}
	if !s.ask(s.ctx, w, 100) {
		return "", errors.New("no card could be made")
	}
	return w.id, nil
}

// onDisk is a server whose data is on a disk of its own, of so many megabytes, and
// a card on it to read.
func (t *torment) onDisk(megabytes int) (d *disk, n *node, s *site, card string, err error) {
	if d, err = t.newDisk("disk", megabytes); err != nil {
		return nil, nil, nil, "", err
	}
	if n, err = t.newNode("data", ""); err != nil {
		return nil, nil, nil, "", err
	}
	n.data = filepath.Join(d.folder, "data")
	if s, err = t.newSite(n); err != nil {
		return nil, nil, nil, "", err
	}
	card, err = s.knownCard()
	return d, n, s, card, err
}

// refusals asks for writes and reads while nothing can be written, until it has seen so long of refusals. A write that is
// not made must be answered 503, and each read be answered. Where none can be made, firmly, none may be acknowledged; on a
// full disk a small one may still find room.
func (s *site) refusals(n *node, card string, firmly bool, most, long time.Duration) error {
	deadline, since := time.Now().Add(most), time.Time{}
	for time.Now().Before(deadline) {
		w := &write{key: randomKey(), to: s.boards[0]}
		s.ledger.sent(w)
		a, err := s.send(s.ctx, n, w)
		var status statusError
		switch {
		case err == nil && firmly && !since.IsZero():
			s.ledger.acknowledge(w, a)
			return errors.New("a write was acknowledged while none could be kept")
		case err == nil:
			s.ledger.acknowledge(w, a)
		case !errors.As(err, &status) || status.code != 503:
			return fmt.Errorf("a write was not refused with 503: %w", err)
		case since.IsZero():
			since = time.Now()
		}
		if err := s.client.do(s.ctx, "GET", n.addr, "/cards/"+card, "", nil, nil); err != nil {
			return fmt.Errorf("a read was refused while nothing could be written: %w", err)
		}
		if !since.IsZero() && time.Since(since) >= long {
			return nil
		}
	}
	return fmt.Errorf("no write was refused within %v", most)
}

// resumed waits until writes are acknowledged again.
func (s *site) resumed(most time.Duration) (took time.Duration, err error) {
	begun, before := time.Now(), s.ledger.acknowledgedNow()
	err = s.until("writes are not acknowledged again", most, func() bool { return s.ledger.acknowledgedNow() > before+writers })
	return time.Since(begun), err
}

// fillDisk fills the disk in load, again and again, and makes room again.
func fillDisk(t *torment) error {
	d, n, s, known, err := t.onDisk(400)
	if err != nil {
		return err
	}
	stop := s.load(5 * time.Millisecond)
	defer stop()
	var slowest time.Duration
	if err := t.each(func(int) error {
		if err := t.rest(time.Duration(rand.IntN(200)) * time.Millisecond); err != nil {
			return err
		}
		if err := d.fill(); err != nil {
			return err
		}
		err := s.refusals(n, known, false, time.Minute, time.Second)
		if err := errors.Join(err, d.free()); err != nil {
			return err
		}
		took, err := s.resumed(10 * time.Second)
		slowest = max(slowest, took)
		return err
	}); err != nil {
		return err
	}
	stop()
	if err := s.audit(); err != nil {
		return err
	}
	t.unavailable = 0 // it is unavailable for as long as the disk is full
	t.note = "writes again " + seconds(slowest) + " s after there was room"
	return nil
}
