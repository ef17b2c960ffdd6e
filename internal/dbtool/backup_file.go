package dbtool

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"time"

	"cardwall/internal/board"
)

// A backup of either database is a SQLite database. It contains the tables and rows
// of the application, and two tables with its manifest. After the database comes
// one line with the SHA-256 of everything before it. So the end of the file shows
// whether it is complete, and any SQLite can read its content.

var (
	// ErrNotBackup means that a file was not written by Backup.
	ErrNotBackup = errors.New("this is not a Cardwall backup")
	// ErrDamaged means that a backup has changed since it was written.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrNewerBackup means that a backup has a format or schema that this program
	// does not know.
	ErrNewerBackup = errors.New("the backup was made by a newer version of cardwall")
)

const (
	backupFormat = 1
	backupLine   = "\ncardwall-backup sha256:" // followed by 64 hexadecimal digits and a line feed
	backupTail   = len(backupLine) + 2*sha256.Size + 1
	sqliteMagic  = "SQLite format 3\x00"
)

// Manifest describes a backup.
type Manifest struct {
	Schema  int64 // version of the schema
	MadeAt  time.Time
	Source  string   // "sqlite" or "postgres"
	Program string   // version of the program that made it
	Keys    []string // ids of the keys that its secrets are sealed with
	Tables  []TableSum
	Bytes   int64 // of the file
}

// Rows returns the number of rows of all tables.
func (m Manifest) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// note writes the manifest into a future backup.
func (b *bulk) note(ctx context.Context, m Manifest) error {
	if err := b.do(ctx, "DROP TABLE IF EXISTS backup", "DROP TABLE IF EXISTS backup_tables",
		"CREATE TABLE backup (format INTEGER NOT NULL, schema INTEGER NOT NULL, made_at INTEGER NOT NULL, source TEXT NOT NULL, "+
			"program TEXT NOT NULL, keys TEXT NOT NULL) STRICT",
		"CREATE TABLE backup_tables (name TEXT NOT NULL PRIMARY KEY, rows INTEGER NOT NULL, checksum TEXT NOT NULL) STRICT"); err != nil {
		return err
	}
	if _, err := b.exec(ctx, "INSERT INTO backup (format, schema, made_at, source, program, keys) VALUES ($1, $2, $3, $4, $5, $6)",
		backupFormat, m.Schema, int64(board.InstantOf(m.MadeAt)), m.Source, m.Program, strings.Join(m.Keys, ",")); err != nil {
		return err
	}
	for _, t := range m.Tables {
		if _, err := b.exec(ctx, "INSERT INTO backup_tables (name, rows, checksum) VALUES ($1, $2, $3)", t.Name, t.Rows, t.Checksum); err != nil {
			return err
		}
	}
	return nil
}

// manifest reads the manifest of a backup. It returns an error for other files and
// for a newer format or schema than newest.
func (b *bulk) manifest(ctx context.Context, newest int64) (m Manifest, err error) {
	if n, err := b.count(ctx, "SELECT count(*) FROM sqlite_schema WHERE name IN ('backup', 'backup_tables')"); err != nil || n != 2 {
		return m, errors.Join(ErrNotBackup, err)
	}
	var (
		format int
		made   board.Instant
		keys   string
	)
	if _, err := b.one(ctx, "SELECT format FROM backup", nil, &format); err != nil || format < 1 {
		return m, errors.Join(ErrNotBackup, err)
	}
	if format > backupFormat {
		return m, fmt.Errorf("%w: its format is %d, but this program supports only up to %d", ErrNewerBackup, format, backupFormat)
	}
	if _, err := b.one(ctx, "SELECT schema, made_at, source, program, keys FROM backup", nil, &m.Schema, &made, &m.Source,
		&m.Program, &keys); err != nil {
		return m, errors.Join(ErrDamaged, err)
	}
	if m.Schema > newest {
		return m, fmt.Errorf("%w: its schema is %d, but this program supports only up to %d", ErrNewerBackup, m.Schema, newest)
	}
	m.MadeAt = made.Time()
	if keys != "" {
		m.Keys = strings.Split(keys, ",")
	}
	err = b.each(ctx, "SELECT name, rows, checksum FROM backup_tables ORDER BY name", nil, func(rows *sql.Rows) error {
		var t TableSum
		err := rows.Scan(&t.Name, &t.Rows, &t.Checksum)
		m.Tables = append(m.Tables, t)
		return err
	})
	return m, err
}

// sealBackup appends the last line to a backup and syncs the file to disk.
func sealBackup(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if _, err := f.WriteString(lastLine(sum)); err != nil {
		return err
	}
	return f.Sync()
}

func lastLine(sum hash.Hash) string { return backupLine + hex.EncodeToString(sum.Sum(nil)) + "\n" }

// unsealBackup copies a backup without its last line. It returns the length of the
// whole file, or an error if the file is not a backup or is damaged.
func unsealBackup(from io.Reader, to io.Writer) (length int64, err error) {
	sum := sha256.New()
	var (
		tail  []byte
		block = make([]byte, 1<<20)
	)
	for {
		n, err := from.Read(block)
		first := length == 0
		length += int64(n)
		tail = append(tail, block[:n]...)
		if first && len(tail) >= len(sqliteMagic) && string(tail[:len(sqliteMagic)]) != sqliteMagic {
			return length, ErrNotBackup
		}
		if keep := len(tail) - backupTail; keep > 0 {
			_, _ = sum.Write(tail[:keep]) // a hash never fails
			if _, err := to.Write(tail[:keep]); err != nil {
				return length, err
			}
			tail = append(tail[:0], tail[keep:]...)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return length, err
		}
	}
	switch {
	case length < int64(len(sqliteMagic)+backupTail):
		return length, ErrNotBackup
	case string(tail[:len(backupLine)]) != backupLine:
		return length, fmt.Errorf("%w, or is not a backup: its last line is missing", ErrDamaged)
	case string(tail) != lastLine(sum):
		return length, fmt.Errorf("%w: its content does not match the checksum in its last line", ErrDamaged)
	}
	return length, nil
}

// openBackup opens a SQLite file that no one writes to, for reading.
func openBackup(ctx context.Context, path string) (*bulk, error) {
	return openBulkFile(ctx, path, "mode=ro&immutable=1&_pragma=query_only(1)")
}

// verifyBackup reads a whole backup and returns an error if it differs from what
// Backup wrote.
func verifyBackup(ctx context.Context, path string, newest int64, say func(string)) (m Manifest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, err
	}
	defer func() { _ = f.Close() }() // only read
	length, err := unsealBackup(f, io.Discard)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	b, err := openBackup(ctx, path)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if m, err = b.manifest(ctx, newest); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	m.Bytes = length
	if err := b.verify(ctx, m, say); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// verify compares the rows of a SQLite file with its manifest.
func (b *bulk) verify(ctx context.Context, m Manifest, say func(string)) error {
	lines, err := b.texts(ctx, "PRAGMA integrity_check(5)")
	if err != nil {
		return errors.Join(ErrDamaged, err)
	}
	if len(lines) != 1 || lines[0] != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(lines, "; "))
	}
	tables, err := b.tables(ctx)
	if err != nil {
		return err
	}
	sums, err := b.sumTables(ctx, tables, newMeter(say, "verifying", m.Rows()))
	if err != nil {
		return errors.Join(ErrDamaged, err)
	}
	if err := differences(m.Tables, sums); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}

// isBackup reports whether a file begins and ends like a backup.
func isBackup(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	head, tail := make([]byte, len(sqliteMagic)), make([]byte, len(backupLine))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != sqliteMagic {
		return false
	}
	if _, err := f.Seek(-int64(backupTail), io.SeekEnd); err != nil {
		return false
	}
	_, err = io.ReadFull(f, tail)
	return err == nil && string(tail) == backupLine
}
