package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cardwall/perf/limits"
	"cardwall/perf/process"
)

// rawWrites measures SQLite alone. Each durable transaction writes group cards and their events.
func rawWrites(ctx context.Context, name, dir string, group int, warm, window time.Duration) (*result, error) {
	writer, err := limits.OpenWriter(ctx, filepath.Join(dir, fmt.Sprintf("writes%d.db", group)), group)
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	return repeat(ctx, name, group, warm, window, func() error { return writer.Commit(ctx) })
}

// fsyncs measures the disk alone: writes of 4 kB to a log, each followed by a sync.
func fsyncs(ctx context.Context, name, dir string, warm, window time.Duration) (*result, error) {
	log, err := limits.NewLog(filepath.Join(dir, "fsync"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return repeat(ctx, name, 1, warm, window, log.Append)
}

// repeat calls work repeatedly in this process and measures it. Each call does the given number of operations.
func repeat(ctx context.Context, name string, units int, warm, window time.Duration, work func() error) (*result, error) {
	res := &result{name: name, clients: 1, units: units}
	begin := time.Now().Add(warm)
	for time.Now().Before(begin) && ctx.Err() == nil {
		if err := work(); err != nil {
			return nil, fmt.Errorf("measure %s: %w", name, err)
		}
	}
	opened, cpu := time.Now(), process.OwnCPU()
	for now := opened; now.Sub(opened) < window && ctx.Err() == nil; {
		if err := work(); err != nil {
			return nil, fmt.Errorf("measure %s: %w", name, err)
		}
		done := time.Now()
		res.latency.Add(done.Sub(now))
		now = done
	}
	res.elapsed, res.loadCPU = time.Since(opened), process.OwnCPU()-cpu
	return res, ctx.Err()
}
