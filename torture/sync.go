package main

import (
	"crypto/rand"
	"errors"
	"time"
)

func randomKey() string { return rand.Text() }

// failSync has every sync of the server fail for a while. In turns the disk comes to itself again, and what is written then
// has to outlast a power cut; or the server is killed before that, and the next one has to distrust what it finds.
func failSync(t *torment) error {
	d, n, s, known, err := t.onDisk(640)
	if err != nil {
		return err
	}
	stop := s.load(5 * time.Millisecond)
	defer stop()
	if err := t.each(func(round int) error {
		tracer, err := t.failSyncs(n.proc.pid())
		if err != nil {
			return err
		}
		err = s.refusals(n, known, true, 20*time.Second, 500*time.Millisecond)
		if err == nil && n.ready() {
			err = errors.New("the server says that it is ready while nothing can be made durable")
		}
		if round%2 == 1 {
			n.kill()
		}
		if err := errors.Join(err, tracer.stop()); err != nil {
			return err
		}
		if round%2 == 1 {
			if err := n.start(t.ctx); err != nil {
				return err
			}
		}
		if _, err := s.resumed(15 * time.Second); err != nil {
			return err
		}
		if err := t.rest(200 * time.Millisecond); err != nil {
			return err
		}
		if err := n.freeze(); err != nil {
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
	}); err != nil {
		return err
	}
	stop()
	if err := s.audit(); err != nil {
		return err
	}
	t.unavailable = 0 // it is unavailable for as long as syncs fail
	t.note = "every second round killed in doubt, each followed by a power cut"
	return nil
}
