package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cardwall/perf/limits"
	"cardwall/perf/process"
)

// rawWrites measures SQLite alone. Each durable transaction writes group cards and their events.
func rawWrites(ctx context.Context, name, dir string, group int, warm, window time.Duration) (*result, error) {
	db, err := limits.OpenDB(ctx, filepath.Join(dir, fmt.Sprintf("writes%d.db", group)))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	writer, err := limits.NewWriter(ctx, db, group)
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	res, err := repeat(ctx, warm, window, func() error { return writer.Commit(ctx) })
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", name, err)
	}
	res.name, res.units = name, group
	return res, nil
}

// fsyncs measures the disk alone. Like a write-ahead log, it overwrites a file of 4 MB cyclically and syncs after each
// 4 kB.
func fsyncs(ctx context.Context, name, dir string, warm, window time.Duration) (*result, error) {
	const block, blocks = 4096, 1024
	file, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", name, err)
	}
	defer file.Close()
	buf := make([]byte, block)
	for i := range buf {
		buf[i] = byte(i)
	}
	n := int64(0)
	write := func() error {
		if _, err := file.WriteAt(buf, n%blocks*block); err != nil {
			return err
		}
		n++
		return nil
	}
	for range blocks {
		if err := write(); err != nil {
			return nil, fmt.Errorf("measure %s: %w", name, err)
		}
	}
	res, err := repeat(ctx, warm, window, func() error {
		buf[0]++
		if err := write(); err != nil {
			return err
		}
		return file.Sync()
	})
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", name, err)
	}
	res.name = name
	return res, nil
}

// repeat calls work repeatedly in this process and measures it.
func repeat(ctx context.Context, warm, window time.Duration, work func() error) (*result, error) {
	res := &result{clients: 1, units: 1}
	begin := time.Now().Add(warm)
	for time.Now().Before(begin) && ctx.Err() == nil {
		if err := work(); err != nil {
			return nil, err
		}
	}
	opened, cpu := time.Now(), process.OwnCPU()
	for now := opened; now.Sub(opened) < window && ctx.Err() == nil; {
		if err := work(); err != nil {
			return nil, err
		}
		done := time.Now()
		res.latency.Add(done.Sub(now))
		now = done
	}
	res.elapsed, res.loadCPU = time.Since(opened), process.OwnCPU()-cpu
	return res, ctx.Err()
}
