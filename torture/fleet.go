package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
)

// fleetSize is how many servers share one PostgreSQL.
const fleetSize = 3

// newFleet is an installation of three servers on one PostgreSQL, each behind a proxy of its own.
func (t *torment) newFleet() (s *site, links []*proxy, database string, err error) {
	if database, err = t.newPostgres(); err != nil {
		return nil, nil, "", err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	var nodes []*node
	for i := range fleetSize {
		link, err := t.newProxy(database)
		if err != nil {
			return nil, nil, "", err
		}
		n, err := t.newNode(fmt.Sprintf("node-%d", i+1), postgresAddress(link.addr()))
		if err != nil {
			return nil, nil, "", err
		}
		n.env = []string{"CARDWALL_SECRET_KEY=" + base64.StdEncoding.EncodeToString(key)}
		nodes, links = append(nodes, n), append(links, link)
	}
	// The first brings the schema; the others find it.
	for _, n := range nodes {
		if err := n.start(t.ctx); err != nil {
			return nil, nil, "", err
		}
	}
	s, err = t.newSite(nodes...)
	return s, links, database, err
}
