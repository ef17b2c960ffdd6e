package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// retryPause is what a writer waits after no answer before it asks again under the same key.
const retryPause = 20 * time.Millisecond

// load lets writers change boards until the function that it returns is called. Each asks for one change after the other,
// and again under the same key while no answer comes. Rest is what it waits in between.
func (s *site) load(rest time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var all sync.WaitGroup
	s.ledger.load(true)
	for i := range writers {
		all.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				s.turn(ctx, n)
				_ = sleep(ctx, rest)
			}
		})
	}
	return sync.OnceFunc(func() {
		cancel()
		s.ledger.load(false)
		all.Wait()
	})
}

// turn is one turn of a writer: a change of one event, one of two, and now and then what must send nothing.
func (s *site) turn(ctx context.Context, n int) {
	w := &write{key: randomKey(), to: s.boards[n%len(s.boards)]}
	if !s.ask(ctx, w, 0) {
		return
	}
	if n%4 == 0 {
		s.ask(ctx, &write{key: randomKey(), to: w.to, card: w.id}, 0)
	}
	switch n % 9 {
	case 3:
		s.ask(ctx, &write{key: randomKey(), to: s.secret, secret: true}, 0)
	case 6:
		s.ask(ctx, &write{key: randomKey(), to: w.to, refused: true}, 0)
	}
}

// ask sends a write until it is answered, so often at most (0 for ever), and says whether it was acknowledged.
func (s *site) ask(ctx context.Context, w *write, most int) bool {
	s.ledger.sent(w)
	if most == 0 {
		most = math.MaxInt
	}
	first := rand.IntN(len(s.nodes)) // any node will do
	for i := 0; i < most && ctx.Err() == nil; i++ {
		night := s.ledger.isNight()
		a, err := s.send(ctx, s.nodes[(first+i)%len(s.nodes)], w)
		var status statusError
		switch {
		case err == nil && w.refused:
			s.ledger.complain("a write that had to be refused was not")
			return false
		case err == nil && s.ledger.isNight(): // of what was under way the server may have been told that it is on the disk
			if night && !w.late {
				s.ledger.complain("a write was acknowledged that began when the disk was gone")
			}
			w.late = true
		case err == nil:
			s.ledger.acknowledge(w, a)
			return true
		case errors.As(err, &status) && status.code == 500:
			s.ledger.complain(fmt.Sprintf("an answer says that nobody expected what happened: %v", err))
		case errors.As(err, &status) && !status.passes():
			if !w.refused {
				s.ledger.complain(fmt.Sprintf("a good write was refused: %v", err))
			}
			return false
		}
		_ = sleep(ctx, retryPause)
	}
	return false
}

// send sends a write once. What is under way when the trial goes on is answered still.
func (s *site) send(ctx context.Context, n *node, w *write) (a answer, err error) {
	ctx = context.WithoutCancel(ctx)
	if w.card != "" {
		err = s.client.do(ctx, "PATCH", n.addr, "/cards/"+w.card, w.key, map[string]any{"description": w.key, "done": true}, &a)
		return a, err
	}
	title := w.key
	if w.refused {
		title = " "
	}
	err = s.client.do(ctx, "POST", n.addr, "/cards", w.key, map[string]any{"listId": w.to.list, "title": title}, &a)
	return a, err
}

// settle sends every write again that nobody answered, and some of the others, which must be answered as before.
func (s *site) settle() error {
	const again = 1000
	work := append(s.ledger.open(), s.ledger.some(again)...)
	next := make(chan *write)
	var all sync.WaitGroup
	var mu sync.Mutex
	unanswered := 0
	for range writers {
		all.Go(func() {
			for w := range next {
				if !s.ask(s.ctx, w, 200) {
					mu.Lock()
					unanswered++
					mu.Unlock()
				}
			}
		})
	}
	for _, w := range work {
		next <- w
	}
	close(next)
	all.Wait()
	if unanswered > 0 {
		return fmt.Errorf("%d writes were not answered when they were sent again", unanswered)
	}
	return nil
}

// sleep waits, unless the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
