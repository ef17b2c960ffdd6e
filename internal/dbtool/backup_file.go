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

// A backup of SQLite or PostgreSQL is a SQLite database, so any SQLite client can read
// it. It contains the tables and rows of the application, and two tables with the
// manifest. After the database, the file has one line with the SHA-256 checksum of
// everything before that line. A backup without this line is incomplete.

var (
	// ErrNotBackup is returned for a file that was not written by Backup.
	ErrNotBackup = errors.New("this is not a Cardwall backup")
	// ErrDamaged is returned for a backup that has changed since it was written.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrNewerBackup is returned for a backup whose format or schema is newer than this
	// program supports.
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
	Program string   // version of the program that made the backup
	Keys    []string // ids of the keys under which the secrets are sealed
	Tables  []TableSum
	Bytes   int64 // size of the file
}

// Rows returns the total number of rows of all tables.
func (m Manifest) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// writeManifest writes the manifest to a backup in progress.
func (b *bulk) writeManifest(ctx context.Context, m Manifest) error {
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

// manifest reads the manifest of a backup. It returns ErrNotBackup for other files,
// ErrDamaged for an unreadable manifest, and ErrNewerBackup if the format is too new or
// the schema is newer than newest.
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
		return m, fmt.Errorf("%w: its format version is %d, but this program supports versions up to %d", ErrNewerBackup, format,
			backupFormat)
	}
	if _, err := b.one(ctx, "SELECT schema, made_at, source, program, keys FROM backup", nil, &m.Schema, &made, &m.Source,
		&m.Program, &keys); err != nil {
		return m, errors.Join(ErrDamaged, err)
	}
	if m.Schema > newest {
		return m, fmt.Errorf("%w: its schema version is %d, but this program supports versions up to %d", ErrNewerBackup, m.Schema,
			newest)
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

// sealBackup appends the line with the checksum to a backup and syncs the file to disk.
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

// unsealBackup copies a backup without its last line. It returns the length of the file,
// including that line. It returns ErrNotBackup or ErrDamaged if the file is not an intact
// backup.
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
		if n := len(tail) - backupTail; n > 0 {
			_, _ = sum.Write(tail[:n]) // hash.Hash never returns an error
			if _, err := to.Write(tail[:n]); err != nil {
				return length, err
			}
			tail = append(tail[:0], tail[n:]...)
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

// openBackup opens a SQLite file for reading. No other process may write to it.
func openBackup(ctx context.Context, path string) (*bulk, error) {
	return openBulkFile(ctx, path, "mode=ro&immutable=1&_pragma=query_only(1)")
}

// verifyBackup reads a backup and checks it against its checksums. It returns
// ErrNotBackup, ErrDamaged or ErrNewerBackup if the backup cannot be restored.
func verifyBackup(ctx context.Context, path string, newest int64, progress func(string)) (m Manifest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, err
	}
	defer func() { _ = f.Close() }() // the file is only read
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
	if err := b.verify(ctx, m, progress); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// verify checks the rows of a SQLite file against its manifest.
func (b *bulk) verify(ctx context.Context, m Manifest, progress func(string)) error {
	lines, err := b.strings(ctx, "PRAGMA integrity_check(5)")
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
	sums, err := b.sumTables(ctx, tables, newMeter(progress, "verifying", m.Rows()))
	if err != nil {
		return errors.Join(ErrDamaged, err)
	}
	if err := compareTables(m.Tables, sums); err != nil {
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
	defer func() { _ = f.Close() }() // the file is only read
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
