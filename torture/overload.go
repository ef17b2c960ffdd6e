package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	capacityClients  = 32
	capacityTime     = 6 * time.Second
	overloadFactor   = 5
	overloadTime     = 20 * time.Second
	overloadPatience = 2 * time.Second // an answer that comes later helps nobody
	overloadConns    = 4096            // connections of the load; who finds none free is not served
	overloadShare    = 0.8             // of the capacity that must be served well in overload
)

// overload measures how many cards a second the server makes for clients that wait for their answers, and then sends five
// times as many without waiting for anybody. Of the capacity 80 % must be served well still, each within two seconds.
func overload(t *torment) error {
	n, err := t.newNode("data", "")
	if err != nil {
		return err
	}
	s, err := t.newSite(n)
	if err != nil {
		return err
	}
	s.counted = false
	capacity, err := s.capacity(n)
	if err != nil {
		return err
	}
	limit := overloadFactor * capacity
	good, refused, late, dropped, err := s.flood(n, limit)
	if err != nil {
		return err
	}
	if good < overloadShare*capacity {
		t.fault("%.0f cards a second were made in overload, %.0f %% of the capacity and not %.0f %%", good, 100*good/capacity, 100*overloadShare)
	}
	begun := time.Now()
	if _, err := s.must("POST", "/cards", map[string]any{"listId": s.boards[0].list, "title": "After"}); err != nil {
		return err
	}
	t.outcome.rounds = 1
	t.note = fmt.Sprintf("capacity %.0f/s; of %.0f/s served %.0f/s (%.0f %%), refused %.0f/s, late or broken %.0f/s, not sent "+
		"%.0f/s; next answer after %d ms",
		capacity, limit, good, 100*good/capacity, refused, late, dropped, time.Since(begun).Milliseconds())
	return nil
}

// capacity is how many cards a second clients get made that ask one after the other.
func (s *site) capacity(n *node) (float64, error) {
	ctx, cancel := context.WithTimeout(s.ctx, capacityTime)
	defer cancel()
	var all sync.WaitGroup
	var made atomic.Int64
	for i := range capacityClients {
		all.Go(func() {
			c := &lean{addr: n.addr, token: s.client.token}
			defer c.close()
			for ctx.Err() == nil {
				if status, err := c.create(s.boards[i%len(s.boards)].list); err == nil && status == http.StatusCreated {
					made.Add(1)
				}
			}
		})
	}
	all.Wait()
	if made.Load() == 0 {
		return 0, fmt.Errorf("no card was made in %v", capacityTime)
	}
	return float64(made.Load()) / capacityTime.Seconds(), s.ctx.Err()
}

// flood sends so many requests a second, whatever becomes of them, and answers how many a second were served well, refused
// as too many, answered too late or not at all, and not sent because all connections waited.
func (s *site) flood(n *node, rate float64) (good, refused, late, dropped float64, err error) {
	free := make(chan *lean, overloadConns)
	for range overloadConns {
		free <- &lean{addr: n.addr, token: s.client.token}
	}
	var all sync.WaitGroup
	var served, turned, slow, unsent atomic.Int64
	begun := time.Now()
	for sent := 0; ; {
		elapsed := time.Since(begun)
		if elapsed >= overloadTime {
			break
		}
		for ; float64(sent) < rate*elapsed.Seconds(); sent++ {
			select {
			case c := <-free:
				list := s.boards[sent%len(s.boards)].list
				all.Go(func() {
					asked := time.Now()
					status, err := c.create(list)
					switch {
					case err == nil && status == http.StatusCreated && time.Since(asked) <= overloadPatience:
						served.Add(1)
					case err == nil && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests):
						turned.Add(1)
					default:
						slow.Add(1)
					}
					free <- c
				})
			default:
				unsent.Add(1)
			}
		}
		if err := s.rest(time.Millisecond); err != nil {
			return 0, 0, 0, 0, err
		}
	}
	all.Wait()
	for range overloadConns {
		(<-free).close()
	}
	a := overloadTime.Seconds()
	return float64(served.Load()) / a, float64(turned.Load()) / a, float64(slow.Load()) / a, float64(unsent.Load()) / a, nil
}

// lean is a client of one connection that costs little, for it shares the processors with the server.
type lean struct {
	addr, token string
	conn        net.Conn
	in          *bufio.Reader
	out         []byte
	until       time.Time // when the connection's deadline is
	born        time.Time // of the connection
	asked       int
}

// create asks for a card and answers the status. An error ends the connection.
func (c *lean) create(list string) (status int, err error) {
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.addr, overloadPatience); err != nil {
			c.conn = nil
			return 0, err
		}
		c.in = bufio.NewReaderSize(c.conn, 4096)
		c.born, c.until = time.Now(), time.Time{}
	}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if now := time.Now(); now.Sub(c.until) > -overloadPatience {
		c.until = now.Add(2 * overloadPatience)
		_ = c.conn.SetDeadline(c.until)
	}
	c.asked++
	body := `{"listId":"` + list + `","title":"A card"}`
	c.out = fmt.Appendf(c.out[:0], "POST /api/public/v1/cards HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer "+
		"%s\r\nIdempotency-Key: %p-%d-%d\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.addr, c.token, c, c.born.UnixNano(), c.asked, len(body), body)
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, err
	}
	return c.answer()
}

// answer reads an answer and gives its status. It understands those that say how long they are, as the server's do.
func (c *lean) answer() (status int, err error) {
	length, ends := -1, false
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case first:
			if len(line) < len("HTTP/1.1 200") {
				return 0, fmt.Errorf("the answer begins with %q", line)
			}
			if status, err = strconv.Atoi(string(line[len("HTTP/1.1 "):len("HTTP/1.1 200")])); err != nil {
				return 0, fmt.Errorf("the answer begins with %q", line)
			}
		case len(line) == 0:
			if length < 0 {
				return 0, errors.New("an answer does not say how long it is")
			}
			if _, err = c.in.Discard(length); err == nil && ends {
				c.close()
			}
			return status, err
		case string(name) == "Content-Length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		case string(name) == "Connection":
			ends = string(value) == "close"
		}
	}
}

func (c *lean) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}
