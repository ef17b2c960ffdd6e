package main

import (
	"fmt"
	"net"
	"sync"
)

// proxy forwards connections from a server to the socket of its database. While it is paused, bytes are delayed, as on a
// broken link: neither side is notified.
type proxy struct {
	listener net.Listener
	socket   string
	mu       sync.Mutex
	open     chan struct{} // closed while it forwards
	conns    map[net.Conn]struct{}
	closed   bool
}

// newProxy starts a proxy to a Unix socket.
func (t *trialRun) newProxy(socket string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	p := &proxy{listener: l, socket: socket, open: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	close(p.open)
	go p.accept()
	t.cleanup(p.close)
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(c)
	}
}

// serve forwards between a connection and the socket until either side closes.
func (p *proxy) serve(near net.Conn) {
	far, err := net.Dial("unix", p.socket)
	if err != nil || !p.register(near, far) {
		_ = near.Close()
		if far != nil {
			_ = far.Close()
		}
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.forward(far, near) })
	both.Go(func() { p.forward(near, far) })
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, near)
	delete(p.conns, far)
}

// register adds connections that close must close. It reports whether the proxy is still open.
func (p *proxy) register(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return !p.closed
}

// forward copies in one direction, and closes both connections when one is closed.
func (p *proxy) forward(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		<-p.gate()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) gate() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// pause stops forwarding.
func (p *proxy) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// resume forwards again, first what arrived while the proxy was paused.
func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

func (p *proxy) close() error {
	p.resume()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	return p.listener.Close()
}
