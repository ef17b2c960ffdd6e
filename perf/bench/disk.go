package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers the driver that the server uses too

	"cardwall/perf/process"
)

// limitSchema has the rows that every change of the server must write. Cards are stored in the order of their board.
const limitSchema = `
CREATE TABLE card (
	board TEXT NOT NULL, id TEXT NOT NULL, list TEXT NOT NULL, number INTEGER NOT NULL, title TEXT NOT NULL,
	description TEXT NOT NULL, done INTEGER NOT NULL, labels TEXT NOT NULL, created_by TEXT NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL, PRIMARY KEY (board, id)
) WITHOUT ROWID;
CREATE TABLE event (id INTEGER PRIMARY KEY, board TEXT NOT NULL, card TEXT NOT NULL, body TEXT NOT NULL);`

const (
	insertCard  = `INSERT INTO card VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	insertEvent = `INSERT INTO event (board, card, body) VALUES ($1, $2, $3)`
)

// openLimitDB creates a database with the settings for durable commits.
func openLimitDB(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"+
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=mmap_size(268435456)")
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if _, err := db.ExecContext(ctx, limitSchema); err != nil {
		return nil, errors.Join(fmt.Errorf("create tables: %w", err), db.Close())
	}
	return db, nil
}

// openLimitRows creates the database that the bare server reads.
func openLimitRows(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openLimitDB(ctx, path)
	if err != nil {
		return nil, err
	}
	writer, err := newRawWriter(ctx, db, limitRows)
	if err == nil {
		err = writer.commit(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, writer.conn.Close()
}

// rawWriter writes cards and their events over one connection, several per transaction.
type rawWriter struct {
	conn        *sql.Conn
	card, event *sql.Stmt
	group       int
	count       int
}

func newRawWriter(ctx context.Context, db *sql.DB, group int) (*rawWriter, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	w := &rawWriter{conn: conn, group: group}
	if w.card, err = conn.PrepareContext(ctx, insertCard); err != nil {
		return nil, fmt.Errorf("prepare card: %w", err)
	}
	if w.event, err = conn.PrepareContext(ctx, insertEvent); err != nil {
		return nil, fmt.Errorf("prepare event: %w", err)
	}
	return w, nil
}

// commit commits one transaction.
func (w *rawWriter) commit(ctx context.Context) error {
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	for range w.group {
		w.count++
		c := newLimitCard(w.count)
		label := ""
		if len(c.Labels) > 0 {
			label = c.Labels[0].ID
		}
		_, err := w.card.ExecContext(ctx, c.BoardID, c.ID, c.ListID, c.Number, c.Title, c.Description, c.Done, label,
			c.CreatedBy, c.CreatedAt, c.UpdatedAt)
		if err != nil {
			return fmt.Errorf("insert card: %w", err)
		}
		if _, err := w.event.ExecContext(ctx, c.BoardID, c.ID, `{"type":"card_created","title":"`+c.Title+`"}`); err != nil {
			return fmt.Errorf("insert event: %w", err)
		}
	}
	if _, err := w.conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// rawWrites measures SQLite alone: durable transactions, each with the given number of cards and their events.
func rawWrites(ctx context.Context, name, dir string, group int, warm, window time.Duration) (*result, error) {
	db, err := openLimitDB(ctx, filepath.Join(dir, fmt.Sprintf("writes%d.db", group)))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	writer, err := newRawWriter(ctx, db, group)
	if err != nil {
		return nil, err
	}
	defer writer.conn.Close()
	res, err := repeat(ctx, warm, window, func() error { return writer.commit(ctx) })
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", name, err)
	}
	res.name, res.units = name, group
	return res, nil
}

// fsyncs measures the disk alone: it writes and syncs 4 kB at a time, cyclically in a file of 4 MB, like a write-ahead log.
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

// repeat measures work that this process does itself, sequentially.
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
