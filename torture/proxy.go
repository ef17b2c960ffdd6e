package main

import (
	"fmt"
	"net"
	"sync"
)

// proxy stands between a node and its database, and can stop to forward: what is sent then arrives later, as behind a
// broken link, and nobody is told.
type proxy struct {
	listener net.Listener
	target   string
	mu       sync.Mutex
	open     chan struct{} // closed while it forwards
	conns    map[net.Conn]struct{}
	closed   bool
}

func (t *torment) newProxy(target string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen as a proxy: %w", err)
	}
	p := &proxy{listener: l, target: target, open: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	close(p.open)
	go p.accept()
	t.atEnd(p.close)
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.join(c)
	}
}

// join forwards between a connection and one to the target until either ends.
func (p *proxy) join(near net.Conn) {
	far, err := net.Dial("tcp", p.target)
	if err != nil || !p.keep(near, far) {
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

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return !p.closed
}

// forward copies one way, and ends both when one ends.
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

// part stops to forward.
func (p *proxy) part() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// heal forwards again, first what came meanwhile.
func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

func (p *proxy) close() error {
	p.heal()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	return p.listener.Close()
}
