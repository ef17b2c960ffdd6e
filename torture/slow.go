package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"cardwall/tools/proc"
)

const (
	crowdSize     = 10_000
	crowdTime     = 30 * time.Second
	crowdWorst    = 250 * time.Millisecond // p99 of the good client, or
	crowdFactor   = 5                      // as many times what it is alone, where the machine is slow
	crowdMemory   = 512 << 20              // of the server, at its peak
	crowdLeftover = 64                     // file handles that may remain when all is over
	crowdHandles  = crowdSize * 5 / 4      // that the system has to allow this process and the server
)

// crowd keeps 10,000 connections at the door that are slow on purpose, each replaced when the server ends it: headers that
// come byte by byte, bodies that never end, answers that nobody reads. A good client goes on beside them.
func crowd(t *torment) error {
	// For this process and the server that it starts.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("ask how many connections are allowed: %w", err)
	}
	if limit.Max < crowdHandles {
		return fmt.Errorf("the system allows %d file handles, %d are needed: raise ulimit -n", limit.Max, crowdHandles)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("allow so many connections: %w", err)
	}
	n, err := t.newNode("data", "")
	if err != nil {
		return err
	}
	s, err := t.newSite(n)
	if err != nil {
		return err
	}
	s.counted = false
	known, err := s.knownCard()
	if err != nil {
		return err
	}
	handles, err := openFiles(n.proc.pid())
	if err != nil {
		return err
	}
	alone, err := s.goodClient(n, known, 5*time.Second)
	if err != nil {
		return err
	}
	c := &slowCrowd{addr: n.addr, token: s.client.token}
	ctx, cancel := context.WithCancel(t.ctx)
	var all sync.WaitGroup
	for i := range crowdSize {
		all.Go(func() { c.stand(ctx, i) })
	}
	defer func() {
		cancel()
		all.Wait()
	}()
	if err := t.until("the crowd does not come together", time.Minute,
		func() bool { return c.standing.Load() >= crowdSize*9/10 }); err != nil {
		return fmt.Errorf("%w; %d stand", err, c.standing.Load())
	}
	most := atomic.Int64{}
	watch, end := context.WithCancel(ctx)
	go func() {
		for sleep(watch, 200*time.Millisecond) == nil {
			if m, err := openFiles(n.proc.pid()); err == nil {
				most.Store(max(most.Load(), int64(m)))
			}
		}
	}()
	beside, err := s.goodClient(n, known, crowdTime)
	end()
	if err != nil {
		return err
	}
	memory, err := proc.Memory(n.proc.pid(), "VmHWM")
	if err != nil {
		return err
	}
	cancel()
	all.Wait()
	if beside > max(crowdWorst, crowdFactor*alone) {
		t.fault("the good client's p99 is %v, not below %v", beside, max(crowdWorst, crowdFactor*alone))
	}
	if memory > crowdMemory {
		t.fault("the server took %d MB, not below %d", memory>>20, crowdMemory>>20)
	}
	if most.Load() < crowdSize*8/10 {
		t.fault("the server held %d connections at most, so there was no crowd", most.Load())
	}
	left := 0
	if err := t.until("file handles do not return", time.Minute, func() bool {
		left, err = openFiles(n.proc.pid())
		return err == nil && left <= handles+crowdLeftover
	}); err != nil {
		t.fault("%v: %d instead of %d", err, left, handles)
	}
	t.outcome.rounds = 1
	t.note = fmt.Sprintf("good client p99 %d ms (alone %d), peak %d MB, %d handles at most, %d after", beside.Milliseconds(),
		alone.Milliseconds(), memory>>20, most.Load(), left)
	return nil
}

// goodClient reads a card and writes one in turn, and answers the 99th percentile of how long an answer took. Each has to be
// good.
func (s *site) goodClient(n *node, card string, long time.Duration) (time.Duration, error) {
	var took []time.Duration
	for begun := time.Now(); time.Since(begun) < long; {
		if err := s.rest(10 * time.Millisecond); err != nil {
			return 0, err
		}
		asked := time.Now()
		if err := s.client.do(s.ctx, "GET", n.addr, "/cards/"+card, "", nil, nil); err != nil {
			return 0, fmt.Errorf("the good client was not served: %w", err)
		}
		took = append(took, time.Since(asked))
		asked = time.Now()
		if _, err := s.send(s.ctx, n, &write{key: randomKey(), to: s.boards[1]}); err != nil {
			return 0, fmt.Errorf("the good client was not served: %w", err)
		}
		took = append(took, time.Since(asked))
	}
	slices.Sort(took)
	return took[len(took)*99/100], nil
}

// slowCrowd is who stands at the door.
type slowCrowd struct {
	addr, token string
	standing    atomic.Int64
}

// stand keeps one connection, and takes a new one when the server has ended it.
func (c *slowCrowd) stand(ctx context.Context, i int) {
	// They do not come all at once: nobody could listen so fast.
	if sleep(ctx, time.Duration(i)*time.Millisecond) != nil {
		return
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%8))}, Timeout: 10 * time.Second}
	for ctx.Err() == nil {
		conn, err := dialer.DialContext(ctx, "tcp", c.addr)
		if err != nil {
			_ = sleep(ctx, time.Second)
			continue
		}
		c.standing.Add(1)
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		c.dawdle(ctx, conn, i)
		stop()
		_ = conn.Close()
		c.standing.Add(-1)
		_ = sleep(ctx, 100*time.Millisecond)
	}
}

// dawdle is slow in one of three ways until the server has enough.
func (c *slowCrowd) dawdle(ctx context.Context, conn net.Conn, i int) {
	switch i % 3 {
	case 0: // headers byte by byte
		text := "GET / HTTP/1.1\r\nHost: " + c.addr + "\r\nX-Slow: "
		for n := 0; sleep(ctx, time.Second) == nil; n++ {
			piece := "a"
			if n < len(text) {
				piece = text[n : n+1]
			}
			if _, err := io.WriteString(conn, piece); err != nil {
				return
			}
		}
	case 1: // a body that never ends
		head := "POST /api/public/v1/cards HTTP/1.1\r\nHost: " + c.addr + "\r\nAuthorization: Bearer " + c.token +
			"\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
		if _, err := io.WriteString(conn, head); err != nil {
			return
		}
		for sleep(ctx, time.Second) == nil {
			if _, err := io.WriteString(conn, " "); err != nil {
				return
			}
		}
	case 2: // answers that nobody reads, of half a megabyte, which cost little to make: slow it is, not heavy
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		ask := "GET /api/public/v1/openapi.json HTTP/1.1\r\nHost: " + c.addr + "\r\n\r\n"
		for ctx.Err() == nil {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Minute))
			if _, err := io.WriteString(conn, ask); err != nil {
				return
			}
			if sleep(ctx, 20*time.Second) != nil {
				return
			}
		}
	}
}
