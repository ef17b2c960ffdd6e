package main

import (
	"fmt"
	"time"
)

// gapMost is how long nobody may be able to write when the primary is gone.
const gapMost = 30 * time.Second

// failOver takes the primary of PostgreSQL away, again and again: in turns it is killed with SIGKILL, with Patroni and all,
// and parted from everybody. A standby that has confirmed every commit takes over.
func failOver(t *torment) error {
	c, err := t.newCluster()
	if err != nil {
		return err
	}
	n, err := t.newNode("node", c.address())
	if err != nil {
		return err
	}
	s, err := t.newSite(n)
	if err != nil {
		return err
	}
	s.client = newClient(s.client.token, partedPatience)
	stop := s.load(10 * time.Millisecond)
	defer stop()
	if err := t.each(func(round int) error {
		if err := c.whole(2 * time.Minute); err != nil {
			return err
		}
		if err := t.rest(time.Second); err != nil {
			return err
		}
		was := c.primary()
		if was < 0 {
			return fmt.Errorf("there is no primary")
		}
		if round%2 == 0 {
			// PostgreSQL and Patroni at once; etcd lives, as on a machine of its own.
			c.hosts[was].clear(c.etcd[was].pid())
		} else if err := c.hosts[was].part(); err != nil {
			return err
		}
		err := t.until("nobody takes over", 90*time.Second, func() bool {
			now := c.primary()
			return now >= 0 && now != was
		})
		if err == nil {
			_, err = s.resumed(time.Minute)
		}
		if round%2 == 0 {
			<-c.patroni[was].done
			if again := c.startPatroni(was); err == nil {
				err = again
			}
		} else if again := c.hosts[was].heal(); err == nil {
			err = again
		}
		t.say("fail-over %d: longest silence so far %v", round+1, s.ledger.worst.Round(100*time.Millisecond))
		return err
	}); err != nil {
		return err
	}
	if err := c.whole(2 * time.Minute); err != nil {
		return err
	}
	stop()
	if err := s.audit(); err != nil {
		return err
	}
	if t.unavailable > gapMost {
		t.fault("nobody could write for %v", t.unavailable.Round(100*time.Millisecond))
	}
	t.note = fmt.Sprintf("ttl %d s; %d deliveries, %d came again", ttl, len(s.receiver.taken), s.receiver.repeated())
	return nil
}
