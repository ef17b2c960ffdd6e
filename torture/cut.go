package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"
)

// cutDisk cuts the filesystem off in load, again and again, as a power cut does. The released program is told what would
// take the control's durability away, and does not listen.
func cutDisk(t *torment) error {
	s, err := t.cutAgainAndAgain(t.binary)
	if err != nil {
		return err
	}
	if err := s.audit(); err != nil {
		return err
	}
	t.note = fmt.Sprintf("%d deliveries, %d came again", len(s.receiver.taken), s.receiver.repeated())
	return nil
}

// cutControl does the same to a program that does not sync each commit. It must lose writes, or the trial above proves
// nothing.
func cutControl(t *torment) error {
	s, err := t.cutAgainAndAgain(t.control)
	if err != nil {
		return err
	}
	s.unavailable = s.ledger.worst
	s.acknowledged = s.ledger.acknowledgedNow()
	cards, want, err := s.readBack()
	if err != nil {
		return err
	}
	s.compareWrites(cards, want)
	t.faults = nil
	t.note = "loses, as it must"
	if t.lost == 0 {
		t.fault("the control lost nothing, so the trial cannot fail")
	}
	return nil
}

func (t *torment) cutAgainAndAgain(binary string) (*site, error) {
	d, err := t.newDisk("disk", 640)
	if err != nil {
		return nil, err
	}
	n, err := t.newNode("data", "")
	if err != nil {
		return nil, err
	}
	n.binary, n.data = binary, filepath.Join(d.folder, "data")
	n.env = []string{"CARDWALL_TORTURE_SYNCHRONOUS=NORMAL"}
	s, err := t.newSite(n)
	if err != nil {
		return nil, err
	}
	// The boards themselves are not on trial: without them the control could not be read.
	if _, err := run("sync", "-f", d.folder); err != nil {
		return nil, err
	}
	stop := s.load(0)
	defer stop()
	return s, t.each(func(int) error {
		if err := t.rest(time.Duration(100+rand.IntN(300)) * time.Millisecond); err != nil {
			return err
		}
		if err := d.cut(); err != nil {
			return err
		}
		n.kill()
		if err := d.recover(); err != nil {
			return err
		}
		return n.start(t.ctx)
	})
}
