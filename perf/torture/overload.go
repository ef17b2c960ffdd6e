package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"cardwall/perf/client"
	"cardwall/perf/server"
)

const (
	capacityClients  = 32
	capacityTime     = 6 * time.Second
	overloadFactor   = 5
	overloadTime     = 20 * time.Second
	overloadDeadline = 2 * time.Second // a slower response counts as a failure
	overloadConns    = 4096            // number of connections; a request is not sent if none is free
	overloadShare    = 0.8             // minimum fraction of the capacity that must be served in time under overload
)

// overload measures the capacity: how many cards per second the server creates for clients that wait for each response.
// It then sends five times as many requests without waiting for responses. The server must still serve requests at 80%
// of the capacity, each within two seconds.
func overload(t *trialRun) error {
	n, err := t.newServer("data", "")
	if err != nil {
		return err
	}
	w, err := t.newWorkload(n)
	if err != nil {
		return err
	}
	w.counted = false
	capacity, err := w.capacity(n)
	if err != nil {
		return err
	}
	rate := overloadFactor * capacity
	good, refused, late, dropped, err := w.flood(n, rate)
	if err != nil {
		return err
	}
	if good < overloadShare*capacity {
		t.fail("under overload, the server created %.0f cards per second, which is %.0f%% of the capacity; want at least %.0f%%",
			good, 100*good/capacity, 100*overloadShare)
	}
	begin := time.Now()
	if _, err := w.Request("POST", "/cards", map[string]any{"listId": w.Boards[0].List, "title": "After"}); err != nil {
		return err
	}
	t.outcome.rounds = 1
	t.note = fmt.Sprintf("capacity %.0f/s; at %.0f/s: served %.0f/s (%.0f%%), refused %.0f/s, late or failed %.0f/s, not sent "+
		"%.0f/s; next response after %d ms",
		capacity, rate, good, 100*good/capacity, refused, late, dropped, time.Since(begin).Milliseconds())
	return nil
}

// capacity returns the number of cards per second that the server creates for clients that wait for each response.
func (w *workload) capacity(n *server.Server) (float64, error) {
	ctx, cancel := context.WithTimeout(w.ctx, capacityTime)
	defer cancel()
	var running sync.WaitGroup
	var created atomic.Int64
	for i := range capacityClients {
		running.Go(func() {
			c := w.newConnection(n)
			defer c.Close()
			for ctx.Err() == nil {
				if status, err := createCard(c, w.Boards[i%len(w.Boards)].List); err == nil && status == http.StatusCreated {
					created.Add(1)
				}
			}
		})
	}
	running.Wait()
	if created.Load() == 0 {
		return 0, fmt.Errorf("no card was created in %v", capacityTime)
	}
	return float64(created.Load()) / capacityTime.Seconds(), w.ctx.Err()
}

// flood sends requests at a fixed rate. It returns the rates of requests that were served in time, refused, late or
// failed, and not sent because no connection was free.
func (w *workload) flood(n *server.Server, rate float64) (good, refused, late, dropped float64, err error) {
	free := make(chan *client.Client, overloadConns)
	for range overloadConns {
		free <- w.newConnection(n)
	}
	var running sync.WaitGroup
	var served, rejected, slow, unsent atomic.Int64
	begin := time.Now()
	for sent := 0; ; {
		elapsed := time.Since(begin)
		if elapsed >= overloadTime {
			break
		}
		for ; float64(sent) < rate*elapsed.Seconds(); sent++ {
			select {
			case c := <-free:
				list := w.Boards[sent%len(w.Boards)].List
				running.Go(func() {
					start := time.Now()
					status, err := createCard(c, list)
					switch {
					case err == nil && status == http.StatusCreated && time.Since(start) <= overloadDeadline:
						served.Add(1)
					case err == nil && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests):
						rejected.Add(1)
					default:
						slow.Add(1)
					}
					free <- c
				})
			default:
				unsent.Add(1)
			}
		}
		if err := w.sleep(time.Millisecond); err != nil {
			return 0, 0, 0, 0, err
		}
	}
	running.Wait()
	for range overloadConns {
		(<-free).Close()
	}
	rateOf := func(n *atomic.Int64) float64 { return float64(n.Load()) / overloadTime.Seconds() }
	return rateOf(&served), rateOf(&rejected), rateOf(&slow), rateOf(&unsent), nil
}

// newConnection returns a client with one connection. It uses the lightweight client, because the load shares the
// processors with the server.
func (w *workload) newConnection(n *server.Server) *client.Client {
	c := client.New(n.Addr, w.Client.Token, rand.Text())
	c.Timeout = 2 * overloadDeadline
	return c
}

// createCard sends a request to create a card and returns the status.
func createCard(c *client.Client, list string) (status int, err error) {
	status, _, err = c.Do(&client.Request{Method: "POST", Path: []byte("/api/public/v1/cards"),
		Body: []byte(`{"listId":"` + list + `","title":"A card"}`)})
	return status, err
}
