package main

import (
	"errors"
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
	faulted, err := s.nodes[0].faulted()
	t.note = fmt.Sprintf("%d deliveries, %d came again; of %d servers without a disk %d ended at a page that they had mapped",
		len(s.receiver.taken), s.receiver.repeated(), t.outcome.rounds/2, faulted)
	return err
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

// outlive has a server go on without its disk for a while. It must not acknowledge a write then, and may end only at a page
// that it had mapped.
func (s *site) outlive(n *node, long time.Duration) error {
	s.ledger.night(true)
	defer s.ledger.night(false)
	before, err := n.faulted()
	if err != nil {
		return err
	}
	err = errors.Join(n.thaw(), s.rest(long), n.freeze())
	if !n.proc.ended() {
		return err
	}
	after, err := n.faulted()
	if err == nil && after == before {
		err = fmt.Errorf("a server whose disk was gone ended:\n%s", lastLines(n.logPath))
	}
	return err
}

// cutAgainAndAgain stops the server before each cut, as a power cut stops all at once. Else XFS answers a sync that was
// under way with success though it wrote nothing (Linux 6.18: 5 of 100 cuts of a program that only appends and syncs), and
// the server tells somebody. In every second round it goes on after that, on a disk that is gone.
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
	return s, t.each(func(round int) error {
		if err := t.rest(time.Duration(100+rand.IntN(300)) * time.Millisecond); err != nil {
			return err
		}
		if err := n.freeze(); err != nil {
			return err
		}
		if err := d.cut(); err != nil {
			return err
		}
		if round%2 == 1 {
			if err := s.outlive(n, 100*time.Millisecond); err != nil {
				return err
			}
		}
		n.kill()
		if err := d.recover(); err != nil {
			return err
		}
		return n.start(t.ctx)
	})
}
