package main

import (
	"fmt"
	"net"
	"sync"
)

// proxy forwards connections from a server to the socket of its database. While it is paused, data is delayed and
// neither side is notified, as on a broken link.
type proxy struct {
	listener net.Listener
	socket   string
	mu       sync.Mutex
	open     chan struct{} // closed unless the proxy is paused
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
func (p *proxy) serve(client net.Conn) {
	database, err := net.Dial("unix", p.socket)
	if err != nil || !p.register(client, database) {
		_ = client.Close()
		if database != nil {
			_ = database.Close()
		}
		return
	}
	var directions sync.WaitGroup
	directions.Go(func() { p.forward(database, client) })
	directions.Go(func() { p.forward(client, database) })
	directions.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, client)
	delete(p.conns, database)
}

// register records connections for close. It reports whether the proxy is still open.
func (p *proxy) register(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return !p.closed
}

// forward copies data in one direction. When one connection is closed, it closes both.
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

// gate returns a channel that is closed unless the proxy is paused.
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

// resume continues forwarding, starting with the data that arrived during the pause.
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
