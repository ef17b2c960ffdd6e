package main

import (
	"math/rand/v2"
	"time"

	"cardwall/perf/fleet"
	"cardwall/perf/postgres"
	"cardwall/perf/server"
)

// shortTimeout is how long a client waits for a response before it retries, on another server if there is one.
const shortTimeout = 5 * time.Second

// breakNodes alternately kills one of three servers that share a PostgreSQL database, and disconnects one from the
// database until its leases expire. The other servers must take over its work. When the server returns, it must not
// undo their work.
func breakNodes(t *trialRun) error {
	w, links, cluster, err := t.newFleet()
	if err != nil {
		return err
	}
	w.Client = fleet.NewClient(w.Client.Token, shortTimeout)
	if err := w.AddRule(w.Boards[0]); err != nil {
		return err
	}
	stop := w.StartWriters(20 * time.Millisecond)
	defer stop()
	if err := t.eachRound(func(round int) error {
		if err := t.sleep(time.Duration(500+rand.IntN(1500)) * time.Millisecond); err != nil {
			return err
		}
		i := rand.IntN(len(w.Servers))
		if round%2 == 0 {
			w.Servers[i].Kill()
			if err := t.sleep(time.Duration(rand.IntN(3000)) * time.Millisecond); err != nil {
				return err
			}
			return start(t.ctx, w.Servers[i])
		}
		links[i].pause()
		err := t.sleep(time.Duration(8000+rand.IntN(8000)) * time.Millisecond)
		links[i].resume()
		if err != nil {
			return err
		}
		return w.Servers[i].WithLog(server.Await(t.ctx, w.Servers[i].Process, w.Servers[i].Addr, server.ReadyPath))
	}); err != nil {
		return err
	}
	stop()
	if err := w.audit(); err != nil {
		return err
	}
	if runs, err := cluster.Query(t.ctx, "SELECT status, reason, count(*) FROM rule_runs GROUP BY 1, 2"); err == nil {
		t.logf("runs of the rule: %s", runs)
	}
	if err := w.checkDeliveriesRecordedOnce(cluster); err != nil {
		return err
	}
	t.note = w.Receiver.Summary()
	return nil
}

// checkDeliveriesRecordedOnce fails the trial if two servers recorded the same attempt. Each delivery must have
// succeeded, and its number of attempts must match its log. The deliveries are read from the database, because the API
// returns only the latest hundred deliveries of a webhook.
func (w *workload) checkDeliveriesRecordedOnce(cluster *postgres.Cluster) error {
	count := ""
	err := w.waitUntil("some deliveries were not recorded as expected", 30*time.Second, func() bool {
		var err error
		count, err = cluster.Query(w.ctx, `SELECT count(*) FROM deliveries WHERE status <> 'delivered' OR due_at IS NOT NULL
			OR attempts <> json_array_length(log::json)`)
		return err == nil && count == "0"
	})
	if err != nil {
		w.fail("%s deliveries did not succeed, or their number of attempts differs from their log", count)
	}
	return nil
}
