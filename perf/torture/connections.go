package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"cardwall/perf/histogram"
	"cardwall/perf/process"
	"cardwall/perf/server"
)

const (
	slowConns     = 10_000
	slowTime      = 30 * time.Second
	slowLatency   = 250 * time.Millisecond // limit for the p99 of the normal client, or
	slowFactor    = 5                      // this many times its p99 without slow connections, on a slow machine
	slowMemory    = 512 << 20              // limit for the peak memory of the server
	slowLeftover  = 64                     // file descriptors that may remain open afterwards
	slowFileLimit = slowConns * 5 / 4      // file descriptors that this process and the server need
)

// holdSlowConnections keeps 10,000 connections open that are slow on purpose: headers sent byte by byte, bodies that never
// end, and responses that are never read. A connection that the server closes is replaced. A normal client works at the
// same time.
func holdSlowConnections(t *trialRun) error {
	// The server inherits the limit.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read limit of open files: %w", err)
	}
	if limit.Max < slowFileLimit {
		return fmt.Errorf("the limit of open files is %d, but %d are needed; raise it with ulimit -n", limit.Max, slowFileLimit)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raise limit of open files: %w", err)
	}
	n, err := t.newServer("data", "")
	if err != nil {
		return err
	}
	w, err := t.newWorkload(n)
	if err != nil {
		return err
	}
	w.counted = false
	card, err := w.newCard()
	if err != nil {
		return err
	}
	files, err := process.OpenFiles(n.Process.PID())
	if err != nil {
		return err
	}
	baseline, err := w.normalClient(n, card, 5*time.Second)
	if err != nil {
		return err
	}
	c := &slowClients{addr: n.Addr, token: w.client.token}
	ctx, cancel := context.WithCancel(t.ctx)
	var all sync.WaitGroup
	for i := range slowConns {
		all.Go(func() { c.hold(ctx, i) })
	}
	defer func() {
		cancel()
		all.Wait()
	}()
	if err := t.waitUntil("the connections were not established", time.Minute,
		func() bool { return c.open.Load() >= slowConns*9/10 }); err != nil {
		return fmt.Errorf("%w; %d are open", err, c.open.Load())
	}
	most := atomic.Int64{}
	watch, end := context.WithCancel(ctx)
	go func() {
		for sleep(watch, 200*time.Millisecond) == nil {
			if m, err := process.OpenFiles(n.Process.PID()); err == nil {
				most.Store(max(most.Load(), int64(m)))
			}
		}
	}()
	latency, err := w.normalClient(n, card, slowTime)
	end()
	if err != nil {
		return err
	}
	memory, err := process.Memory(n.Process.PID(), "VmHWM")
	if err != nil {
		return err
	}
	cancel()
	all.Wait()
	if limit := max(slowLatency, slowFactor*baseline); latency > limit {
		t.fail("the p99 of the normal client is %v, above the limit of %v", latency, limit)
	}
	if memory > slowMemory {
		t.fail("the server used %d MB, more than the limit of %d MB", memory>>20, slowMemory>>20)
	}
	if most.Load() < slowConns*8/10 {
		t.fail("the server held at most %d connections, too few for the trial to mean anything", most.Load())
	}
	left := 0
	if err := t.waitUntil("file descriptors were not closed", time.Minute, func() bool {
		left, err = process.OpenFiles(n.Process.PID())
		return err == nil && left <= files+slowLeftover
	}); err != nil {
		t.fail("%v: %d are open, at first there were %d", err, left, files)
	}
	t.outcome.rounds = 1
	t.note = fmt.Sprintf("normal client p99 %d ms (alone %d), peak %d MB, at most %d open files, %d afterwards", latency.Milliseconds(),
		baseline.Milliseconds(), memory>>20, most.Load(), left)
	return nil
}

// normalClient alternately reads a card and creates one, and returns the 99th percentile of the latency. Every request must
// succeed.
func (w *workload) normalClient(n *server.Server, card string, duration time.Duration) (time.Duration, error) {
	var latency histogram.Histogram
	for begin := time.Now(); time.Since(begin) < duration; {
		if err := w.sleep(10 * time.Millisecond); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := w.client.do(w.ctx, "GET", n.Addr, "/cards/"+card, "", nil, nil); err != nil {
			return 0, fmt.Errorf("a request of the normal client failed: %w", err)
		}
		latency.Add(time.Since(start))
		start = time.Now()
		if _, err := w.send(w.ctx, n, &write{key: rand.Text(), to: w.boards[1]}); err != nil {
			return 0, fmt.Errorf("a request of the normal client failed: %w", err)
		}
		latency.Add(time.Since(start))
	}
	return latency.Quantile(0.99), nil
}

// slowClients hold the slow connections.
type slowClients struct {
	addr, token string
	open        atomic.Int64
}

// hold keeps one connection open, and replaces it when the server closes it.
func (c *slowClients) hold(ctx context.Context, i int) {
	// Connect one after the other, because the accept queue is limited.
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
		c.open.Add(1)
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		c.sendSlowly(ctx, conn, i)
		stop()
		_ = conn.Close()
		c.open.Add(-1)
		_ = sleep(ctx, 100*time.Millisecond)
	}
}

// sendSlowly is slow in one of three ways until the server closes the connection.
func (c *slowClients) sendSlowly(ctx context.Context, conn net.Conn, i int) {
	switch i % 3 {
	case 0: // a header byte by byte
		text := "GET / HTTP/1.1\r\nHost: " + c.addr + "\r\nX-Slow: "
		for n := 0; sleep(ctx, time.Second) == nil; n++ {
			next := "a"
			if n < len(text) {
				next = text[n : n+1]
			}
			if _, err := io.WriteString(conn, next); err != nil {
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
	case 2: // responses of half a megabyte that are never read, and that cost the server little
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		request := "GET /api/public/v1/openapi.json HTTP/1.1\r\nHost: " + c.addr + "\r\n\r\n"
		for ctx.Err() == nil {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Minute))
			if _, err := io.WriteString(conn, request); err != nil {
				return
			}
			if sleep(ctx, 20*time.Second) != nil {
				return
			}
		}
	}
}
