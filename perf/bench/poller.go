package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"cardwall/perf/client"
	"cardwall/perf/process"
)

const (
	polledBoards = 200
	polledCards  = 50               // on each board
	pollInterval = 10 * time.Second // between two polls of a board
	pollLength   = 3 * pollInterval
)

// measurePoller measures the processor time of the server while nobody uses it, and while a program polls boards that
// do not change, one after the other, with If-None-Match.
func (s *suite) measurePoller(ctx context.Context, srv *installation, f *fixture) error {
	c := f.client()
	defer c.Close()
	var boards []unchangedSource
	for i := range polledBoards {
		b, err := f.board(ctx, "Polled "+strconv.Itoa(i), polledCards)
		if err != nil {
			return err
		}
		tag, err := f.entityTag(ctx, pagePath(b))
		if err != nil {
			return err
		}
		boards = append(boards, unchangedSource{pagePath(b), tag})
	}
	sleepUntil(ctx, time.Now().Add(5*time.Second)) // until the server has finished the work that follows writes

	if err := s.measureProcessor(ctx, srv, nameIdleCPU, func(until time.Time) error {
		sleepUntil(ctx, until)
		return nil
	}); err != nil {
		return err
	}
	return s.measureProcessor(ctx, srv, namePoller, func(until time.Time) error {
		for next := time.Now(); next.Before(until) && ctx.Err() == nil; {
			for _, b := range boards {
				if err := poll(c, b); err != nil {
					return err
				}
			}
			next = next.Add(pollInterval)
			sleepUntil(ctx, next)
		}
		return nil
	})
}

// poll requests a page, and returns an error unless it is unchanged.
func poll(c *client.Client, b unchangedSource) error {
	var r client.Request
	if err := b.next(&r); err != nil {
		return err
	}
	status, body, err := c.Do(&r)
	if err == nil && status != r.Want {
		err = fmt.Errorf("got status %d, want %d: %s", status, r.Want, client.Clip(body))
	}
	return err
}

// measureProcessor adds the share of a processor that the server uses while work runs for pollLength. The goal is less
// than 1%.
func (s *suite) measureProcessor(ctx context.Context, srv *installation, name string, work func(until time.Time) error) error {
	s.progress("measuring %s", name)
	pid, begun := srv.Process.PID(), time.Now()
	before, err := process.CPU(pid)
	if err != nil {
		return err
	}
	if err := work(begun.Add(pollLength)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	after, err := process.CPU(pid)
	if err != nil {
		return err
	}
	share := 100 * (after - before).Seconds() / time.Since(begun).Seconds()
	s.rows = append(s.rows, row{
		name: name, value: fmt.Sprintf("%.2f%% of a core", share), goals: []goal{{"< 1%", share < 1}},
	})
	return ctx.Err()
}
