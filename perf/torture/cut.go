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

// cutDisk repeatedly shuts down the filesystem under load, to simulate a power cut. The setting with which cutControl
// disables durability must have no effect on the released program.
func cutDisk(t *trialRun) error {
	w, err := t.runCuts(t.Binary)
	if err != nil {
		return err
	}
	if err := w.audit(); err != nil {
		return err
	}
	faulted, err := countFaults(w.Servers[0])
	t.note = fmt.Sprintf("%s; of %d servers that lost their disk, %d exited with SIGBUS", w.Receiver.Summary(), t.outcome.rounds/2, faulted)
	return err
}

// cutControl does the same as cutDisk with a program that does not sync each commit. It must lose writes; otherwise,
// cutDisk proves nothing.
func cutControl(t *trialRun) error {
	w, err := t.runCuts(t.control)
	if err != nil {
		return err
	}
	r, err := w.CountLost()
	if err != nil {
		return err
	}
	w.count(r)
	t.note = "loses writes, as expected"
	if t.lost == 0 {
		t.fail(`the control lost no writes, so the trial "filesystem cut" cannot detect lost writes`)
	}
	return nil
}

// runWithoutDisk lets a frozen server run after its disk was cut off, and freezes it again. The server must not
// acknowledge writes. It may exit only if it accesses a page of a mapped file.
func (w *workload) runWithoutDisk(n *server.Server, duration time.Duration) error {
	w.Ledger.SetWithoutDisk(true)
	defer w.Ledger.SetWithoutDisk(false)
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
		err = fmt.Errorf("a server without its disk exited:\n%s", process.LogTail(n.LogPath))
	}
	return err
}

// runCuts runs the rounds of a trial. It freezes the server before each cut, because a power cut stops everything at
// the same time. Otherwise, XFS can report success for a sync in progress without writing, and the server acknowledges
// the write. On Linux 6.18, this happened in 5 of 100 cuts of a program that only appends and syncs. In every second
// round, the server runs without its disk for a while after the cut.
func (t *trialRun) runCuts(binary string) (*workload, error) {
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
	// The boards must survive; otherwise, the writes of the control cannot be read.
	if _, err := process.Run("sync", "-f", d.folder); err != nil {
		return nil, err
	}
	stop := w.StartWriters(0)
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

// countFaults returns the number of times a server exited because a page of the mapped database could not be read.
func countFaults(n *server.Server) (int, error) {
	log, err := os.ReadFile(n.LogPath)
	if err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	return strings.Count(string(log), "\n[signal SIGBUS"), nil
}
