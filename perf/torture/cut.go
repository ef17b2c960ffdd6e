package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cardwall/perf/process"
	"cardwall/perf/server"
)

// cutDisk repeatedly cuts off the filesystem under load, as a power cut does. The setting that turns off durability for
// cutControl must have no effect on the released program.
func cutDisk(t *trialRun) error {
	w, err := t.repeatCuts(t.Binary)
	if err != nil {
		return err
	}
	if err := w.audit(); err != nil {
		return err
	}
	faulted, err := countFaults(w.nodes[0])
	t.note = fmt.Sprintf("%s; of %d servers without a disk, %d ended at a mapped page", w.receiver.summary(), t.outcome.rounds/2, faulted)
	return err
}

// cutControl does the same to a program that does not sync each commit. That must lose writes, or cutDisk proves nothing.
func cutControl(t *trialRun) error {
	w, err := t.repeatCuts(t.control)
	if err != nil {
		return err
	}
	w.unavailable = w.ledger.worst
	w.acknowledged = w.ledger.acknowledgedCount()
	cards, want, err := w.readBack()
	if err != nil {
		return err
	}
	w.compareWrites(cards, want)
	t.failures = nil
	t.note = "loses writes, as it must"
	if t.lost == 0 {
		t.fail("the control lost nothing, so the other trial could not fail either")
	}
	return nil
}

// runWithoutDisk lets a server continue without its disk for a while. It must not acknowledge a write, and may end only
// because it accesses a mapped page.
func (w *workload) runWithoutDisk(n *server.Server, duration time.Duration) error {
	w.ledger.setDiskGone(true)
	defer w.ledger.setDiskGone(false)
	before, err := countFaults(n)
	if err != nil {
		return err
	}
	err = errors.Join(n.Process.Thaw(), w.sleep(duration), n.Process.Freeze())
	if !n.Process.Ended() {
		return err
	}
	after, err := countFaults(n)
	if err == nil && after == before {
		err = fmt.Errorf("a server without its disk ended:\n%s", process.LogTail(n.LogPath))
	}
	return err
}

// repeatCuts freezes the server before each cut, because a power cut stops everything at once. Otherwise XFS reports success
// for a sync in progress although it wrote nothing (Linux 6.18: 5 of 100 cuts of a program that only appends and syncs),
// and the server acknowledges the write. In every second round the server continues afterwards, without its disk.
func (t *trialRun) repeatCuts(binary string) (*workload, error) {
	d, err := t.newDisk("disk", 640)
	if err != nil {
		return nil, err
	}
	n, err := t.newServer("data", "", "CARDWALL_TORTURE_SYNCHRONOUS=NORMAL")
	if err != nil {
		return nil, err
	}
	n.Binary, n.Data = binary, filepath.Join(d.folder, "data")
	w, err := t.newWorkload(n)
	if err != nil {
		return nil, err
	}
	// The boards must survive, or the writes of the control could not be read.
	if _, err := process.Run("sync", "-f", d.folder); err != nil {
		return nil, err
	}
	stop := w.startWriters(0)
	defer stop()
	return w, t.eachRound(func(round int) error {
		if err := t.sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond); err != nil {
			return err
		}
		if err := n.Process.Freeze(); err != nil {
			return err
		}
		if err := d.cut(); err != nil {
			return err
		}
		if round%2 == 1 {
			if err := w.runWithoutDisk(n, 100*time.Millisecond); err != nil {
				return err
			}
		}
		n.Kill()
		if err := d.recover(); err != nil {
			return err
		}
		return start(t.ctx, n)
	})
}

// countFaults returns how many times a server ended because its disk did not provide a page of the database.
func countFaults(n *server.Server) (int, error) {
	log, err := os.ReadFile(n.LogPath)
	if err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	return strings.Count(string(log), "\n[signal SIGBUS"), nil
}
