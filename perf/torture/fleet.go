package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"cardwall/perf/postgres"
	"cardwall/perf/server"
)

// fleetSize is the number of servers that share one PostgreSQL database.
const fleetSize = 3

// newFleet starts three servers on one PostgreSQL database and populates it. Each server connects through its own
// proxy.
func (t *trialRun) newFleet() (w *workload, links []*proxy, cluster *postgres.Cluster, err error) {
	if cluster, err = t.newPostgres(); err != nil {
		return nil, nil, nil, err
	}
	socket, err := cluster.Socket()
	if err != nil {
		return nil, nil, nil, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never returns an error
	var nodes []*server.Server
	for i := range fleetSize {
		link, err := t.newProxy(socket)
		if err != nil {
			return nil, nil, nil, err
		}
		n, err := t.newServer(fmt.Sprintf("node-%d", i+1), "postgres://postgres@"+link.addr()+"/postgres?sslmode=disable",
			"CARDWALL_SECRET_KEY="+base64.StdEncoding.EncodeToString(key))
		if err != nil {
			return nil, nil, nil, err
		}
		nodes, links = append(nodes, n), append(links, link)
	}
	for _, n := range nodes { // one after another, because the first one creates the schema
		if err := start(t.ctx, n); err != nil {
			return nil, nil, nil, err
		}
	}
	w, err = t.newWorkload(nodes...)
	return w, links, cluster, err
}
