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

	"cardwall/perf/fleet"
	"cardwall/perf/histogram"
	"cardwall/perf/process"
	"cardwall/perf/server"
)

const (
	slowConns     = 10_000
	slowTime      = 30 * time.Second
	slowLatency   = 250 * time.Millisecond // maximum p99 of the normal client
	slowFactor    = 5                      // on a slow machine, the maximum is this many times the p99 without slow connections
	slowMemory    = 512 << 20              // maximum peak memory of the server
	slowLeftover  = 64                     // number of file descriptors that may remain open afterwards
	slowFileLimit = slowConns * 5 / 4      // number of file descriptors that this process and the server each need
)

// holdSlowConnections keeps 10,000 slow connections open. Their clients send headers byte by byte, send endless bodies,
// or never read responses. Connections that the server closes are replaced. Meanwhile, a normal client must not become
// slow, and the server must not use too much memory. Afterwards, the server must close its file descriptors.
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
	latency, memory, maxFiles, err := w.withSlowConnections(n, card)
	if err != nil {
		return err
	}
	if limit := max(slowLatency, slowFactor*baseline); latency > limit {
		t.fail("the p99 of the normal client is %v, want at most %v", latency, limit)
	}
	if memory > slowMemory {
		t.fail("the server used %d MB, want at most %d MB", memory>>20, slowMemory>>20)
	}
	if maxFiles < slowConns*8/10 {
		t.fail("the server had at most %d open files, want at least %d for a meaningful trial", maxFiles, slowConns*8/10)
	}
	remaining := 0
	if err := t.waitUntil("file descriptors were not closed", time.Minute, func() bool {
		remaining, err = process.OpenFiles(n.Process.PID())
		return err == nil && remaining <= files+slowLeftover
	}); err != nil {
		t.fail("%v: %d file descriptors are open, want at most %d", err, remaining, files+slowLeftover)
	}
	t.outcome.rounds = 1
	t.note = fmt.Sprintf("normal client p99 %d ms (alone %d), peak %d MB, at most %d open files, %d afterwards", latency.Milliseconds(),
		baseline.Milliseconds(), memory>>20, maxFiles, remaining)
	return nil
}

// withSlowConnections runs the normal client while the slow connections are open. It returns the 99th percentile of the
// normal client's latency, and the peak memory and the largest number of open files of the server.
func (w *workload) withSlowConnections(n *server.Server, card string) (latency time.Duration, memory int64, maxFiles int,
	err error) {
	c := &slowClients{addr: n.Addr, token: w.Client.Token}
	ctx, cancel := context.WithCancel(w.ctx)
	var connections sync.WaitGroup
	for i := range slowConns {
		connections.Go(func() { c.hold(ctx, i) })
	}
	defer func() {
		cancel()
		connections.Wait()
	}()
	if err := w.waitUntil("the connections were not established", time.Minute,
		func() bool { return c.open.Load() >= slowConns*9/10 }); err != nil {
		return 0, 0, 0, fmt.Errorf("%w; %d are open", err, c.open.Load())
	}
	var largest atomic.Int64
	watch, end := context.WithCancel(ctx)
	go func() {
		for fleet.Sleep(watch, 200*time.Millisecond) == nil {
			if m, err := process.OpenFiles(n.Process.PID()); err == nil {
				largest.Store(max(largest.Load(), int64(m)))
			}
		}
	}()
	latency, err = w.normalClient(n, card, slowTime)
	end()
	if err == nil {
		memory, err = process.Memory(n.Process.PID(), "VmHWM")
	}
	return latency, memory, int(largest.Load()), err
}

// normalClient alternately reads and creates a card, and returns the 99th percentile of the latency. Every request must
// succeed.
func (w *workload) normalClient(n *server.Server, card string, duration time.Duration) (time.Duration, error) {
	var latency histogram.Histogram
	for begin := time.Now(); time.Since(begin) < duration; {
		if err := w.sleep(10 * time.Millisecond); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := w.Client.Do(w.ctx, "GET", n.Addr, "/cards/"+card, "", nil, nil); err != nil {
			return 0, fmt.Errorf("a request of the normal client failed: %w", err)
		}
		latency.Add(time.Since(start))
		start = time.Now()
		if _, err := w.Send(w.ctx, n, &fleet.Write{Key: rand.Text(), To: w.Boards[1]}); err != nil {
			return 0, fmt.Errorf("a request of the normal client failed: %w", err)
		}
		latency.Add(time.Since(start))
	}
	return latency.Quantile(0.99), nil
}

// slowClients holds the slow connections.
type slowClients struct {
	addr, token string
	open        atomic.Int64 // number of open connections
}

// hold keeps connection number i open, and replaces it when the server closes it.
func (c *slowClients) hold(ctx context.Context, i int) {
	// Connect one after another, because the accept queue is limited.
	if fleet.Sleep(ctx, time.Duration(i)*time.Millisecond) != nil {
		return
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%8))}, Timeout: 10 * time.Second}
	for ctx.Err() == nil {
		conn, err := dialer.DialContext(ctx, "tcp", c.addr)
		if err != nil {
			_ = fleet.Sleep(ctx, time.Second)
			continue
		}
		c.open.Add(1)
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		c.sendSlowly(ctx, conn, i)
		stop()
		_ = conn.Close()
		c.open.Add(-1)
		_ = fleet.Sleep(ctx, 100*time.Millisecond)
	}
}

// sendSlowly uses a connection slowly, in one of three ways, until the server closes it or ctx ends.
func (c *slowClients) sendSlowly(ctx context.Context, conn net.Conn, i int) {
	switch i % 3 {
	case 0: // a header byte by byte
		text := "GET / HTTP/1.1\r\nHost: " + c.addr + "\r\nX-Slow: "
		for n := 0; fleet.Sleep(ctx, time.Second) == nil; n++ {
			next := "a"
			if n < len(text) {
				next = text[n : n+1]
			}
			if _, err := io.WriteString(conn, next); err != nil {
				return
			}
		}
	case 1: // an endless body
		head := "POST /api/public/v1/cards HTTP/1.1\r\nHost: " + c.addr + "\r\nAuthorization: Bearer " + c.token +
			"\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
		if _, err := io.WriteString(conn, head); err != nil {
			return
		}
		for fleet.Sleep(ctx, time.Second) == nil {
			if _, err := io.WriteString(conn, " "); err != nil {
				return
			}
		}
	case 2: // responses of half a megabyte, which cost the server little time, and which the client never reads
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		request := "GET /api/public/v1/openapi.json HTTP/1.1\r\nHost: " + c.addr + "\r\n\r\n"
		for ctx.Err() == nil {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Minute))
			if _, err := io.WriteString(conn, request); err != nil {
				return
			}
			if fleet.Sleep(ctx, 20*time.Second) != nil {
				return
			}
		}
	}
}
