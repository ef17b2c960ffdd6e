package limits

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "modernc.org/sqlite" // registers the driver that the server also uses
)

// schema creates reduced versions of two tables that Cardwall writes to when it creates a card. Cards are clustered by
// board.
const schema = `
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

// openDB creates a SQLite database with durable commits.
func openDB(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"+
		"&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=mmap_size(268435456)")
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("create tables: %w", err), db.Close())
	}
	return db, nil
}

// openRows creates the database of the bare server, with Rows cards.
func openRows(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openDB(ctx, path)
	if err != nil {
		return nil, err
	}
	writer, err := newWriter(ctx, db, Rows)
	if err == nil {
		err = writer.Commit(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, writer.conn.Close()
}

// Writer writes groups of cards and their events over one connection. Each group is one transaction.
type Writer struct {
	db          *sql.DB // the database that Close closes; nil for none
	conn        *sql.Conn
	card, event *sql.Stmt
	group       int // cards per transaction
	count       int // cards written
}

// OpenWriter returns a Writer on a new database that writes group cards per transaction. The caller must close it.
func OpenWriter(ctx context.Context, path string, group int) (*Writer, error) {
	db, err := openDB(ctx, path)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(ctx, db, group)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	w.db = db
	return w, nil
}

func newWriter(ctx context.Context, db *sql.DB, group int) (*Writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	w := &Writer{conn: conn, group: group}
	if w.card, err = conn.PrepareContext(ctx, insertCard); err != nil {
		return nil, fmt.Errorf("prepare card: %w", err)
	}
	if w.event, err = conn.PrepareContext(ctx, insertEvent); err != nil {
		return nil, fmt.Errorf("prepare event: %w", err)
	}
	return w, nil
}

// Commit writes the next group of cards and their events in one durable transaction. After an error, the Writer cannot
// be used again, because the transaction may still be open.
func (w *Writer) Commit(ctx context.Context) error {
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	for range w.group {
		w.count++
		c := NewCard(w.count)
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

// Close closes the connection and the database.
func (w *Writer) Close() error {
	err := w.conn.Close()
	if w.db != nil {
		err = errors.Join(err, w.db.Close())
	}
	return err
}
