package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// partedPatience is how long a client waits for an answer of a node before it asks another.
const partedPatience = 5 * time.Second

// breakNodes kills one of three servers on one PostgreSQL, or parts it from the database for longer than its leases last,
// again and again. The others do its work, and when it comes back it must not undo what they did.
func breakNodes(t *torment) error {
	s, links, database, err := t.newFleet()
	if err != nil {
		return err
	}
	s.client = newClient(s.client.token, partedPatience)
	if err := s.rule(); err != nil {
		return err
	}
	stop := s.load(20 * time.Millisecond)
	defer stop()
	if err := t.each(func(round int) error {
		if err := t.rest(time.Duration(500+rand.IntN(1500)) * time.Millisecond); err != nil {
			return err
		}
		i := rand.IntN(len(s.nodes))
		if round%2 == 0 {
			s.nodes[i].kill()
			if err := t.rest(time.Duration(rand.IntN(3000)) * time.Millisecond); err != nil {
				return err
			}
			return s.nodes[i].start(t.ctx)
		}
		links[i].part()
		err := t.rest(time.Duration(8000+rand.IntN(8000)) * time.Millisecond)
		links[i].heal()
		if err != nil {
			return err
		}
		return s.nodes[i].await(t.ctx, 30*time.Second)
	}); err != nil {
		return err
	}
	stop()
	if err := s.audit(); err != nil {
		return err
	}
	if runs, err := t.query(database, "SELECT status, reason, count(*) FROM rule_runs GROUP BY 1, 2"); err == nil {
		t.say("runs of the rule: %s", runs)
	}
	if err := s.fenced(database); err != nil {
		return err
	}
	t.note = fmt.Sprintf("%d deliveries, %d came again", len(s.receiver.taken), s.receiver.repeated())
	return nil
}

// fenced looks for deliveries that two servers recorded: each has ended, delivered, and its attempts are those that its
// log tells of. The database is asked, for the log of a webhook shows the latest hundred alone.
func (s *site) fenced(database string) error {
	wrong := ""
	err := s.until("deliveries are recorded by two servers", 30*time.Second, func() bool {
		var err error
		wrong, err = s.query(database, `SELECT count(*) FROM deliveries WHERE status <> 'delivered' OR due_at IS NOT NULL
			OR attempts <> json_array_length(log::json)`)
		return err == nil && wrong == "0"
	})
	if err != nil {
		s.fault("%s deliveries are not delivered, or their attempts are not those of their log", wrong)
	}
	return nil
}
