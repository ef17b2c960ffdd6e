package main

import (
	"errors"
	"fmt"
	"time"

	"cardwall/perf/fleet"
)

// maxFailover is the longest time for which writes may fail after the primary is lost.
const maxFailover = 30 * time.Second

// failOver repeatedly removes the PostgreSQL primary. It alternates between killing the primary together with Patroni
// and disconnecting the primary's host from the network. A standby that has confirmed every commit must take over.
func failOver(t *trialRun) error {
	c, err := t.newCluster()
	if err != nil {
		return err
	}
	n, err := t.newServer("node", c.address())
	if err != nil {
		return err
	}
	w, err := t.newWorkload(n)
	if err != nil {
		return err
	}
	w.Client = fleet.NewClient(w.Client.Token, shortTimeout)
	stop := w.StartWriters(10 * time.Millisecond)
	defer stop()
	if err := t.eachRound(func(round int) error {
		if err := c.awaitHealthy(2 * time.Minute); err != nil {
			return err
		}
		if err := t.sleep(time.Second); err != nil {
			return err
		}
		old := c.primary()
		if old < 0 {
			return errors.New("there is no primary")
		}
		if round%2 == 0 {
			// Kill PostgreSQL and Patroni together, but not etcd, as if etcd ran on another machine.
			c.hosts[old].killAll(c.etcd[old].PID())
		} else if err := c.hosts[old].disconnect(); err != nil {
			return err
		}
		err := t.waitUntil("no standby took over", 90*time.Second, func() bool {
			now := c.primary()
			return now >= 0 && now != old
		})
		if err == nil {
			_, err = w.awaitWrites(time.Minute)
		}
		if round%2 == 0 {
			<-c.patroni[old].Done()
			err = errors.Join(err, c.startPatroni(old))
		} else {
			err = errors.Join(err, c.hosts[old].reconnect())
		}
		t.logf("failover %d: longest time without an acknowledgment so far: %v", round+1, w.Ledger.Longest().Round(100*time.Millisecond))
		return err
	}); err != nil {
		return err
	}
	if err := c.awaitHealthy(2 * time.Minute); err != nil {
		return err
	}
	stop()
	if err := w.audit(); err != nil {
		return err
	}
	if t.unavailable > maxFailover {
		t.fail("no write was acknowledged for %v, want at most %v", t.unavailable.Round(100*time.Millisecond), maxFailover)
	}
	t.note = fmt.Sprintf("ttl %d s; %s", ttl, w.Receiver.Summary())
	return nil
}
