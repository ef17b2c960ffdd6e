package sqldb

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// damageCodes are PostgreSQL's SQLSTATEs for data that cannot be read: I/O error,
// undefined file, data corrupted, and index corrupted.
var damageCodes = []string{"58030", "58P01", "XX001", "XX002"}

// IsDamage reports whether err means that stored data is damaged or cannot be read from
// the disk. Other data may still be readable.
func IsDamage(err error) bool {
	var (
		s *sqlite.Error
		p *pgconn.PgError
	)
	switch {
	case errors.As(err, &s):
		return slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR}, s.Code()&0xff)
	case errors.As(err, &p):
		return slices.Contains(damageCodes, p.Code)
	}
	return false
}

// FileError is an error of SQLite or the system that is about the database file. Its text
// says what is wrong with which file and what to do, followed by the text of the error.
type FileError struct {
	text string
	err  error
}

func (e *FileError) Error() string { return e.text + ": " + e.err.Error() }

func (e *FileError) Unwrap() error { return e.err }

const restoreBackup = "stop the server and restore the latest backup with cardwall restore --replace BACKUP"

// FileFault turns errors of SQLite that are about the file at path into a FileError. It
// returns other errors unchanged.
func FileFault(path string, err error) error {
	if code := sqliteCode(err); code == sqlite3.SQLITE_IOERR || code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_READONLY {
		return inaccessible(path, err)
	}
	return ContentFault(path, err)
}

// ContentFault is like FileFault, but only for errors about the content of the file. A
// statement that also uses another file can fail because of that file's disk.
func ContentFault(path string, err error) error {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_CORRUPT:
		return &FileError{fmt.Sprintf("the database file %s is damaged, or its disk is failing; %s", path, restoreBackup), err}
	case sqlite3.SQLITE_NOTADB:
		return &FileError{fmt.Sprintf("%s is not a database, or its first bytes are damaged; %s", path, restoreBackup), err}
	}
	return err
}

// sqliteCode returns the code of an error of SQLite, or 0 for another error or a FileError.
func sqliteCode(err error) int {
	var (
		s    *sqlite.Error
		done *FileError
	)
	if errors.As(err, &done) || !errors.As(err, &s) {
		return 0
	}
	return s.Code() & 0xff
}

// inaccessible returns err as the error of a file that cannot be accessed.
func inaccessible(path string, err error) error {
	return &FileError{fmt.Sprintf("the database file %s cannot be opened, read or written; it must be a file that the user of this "+
		"program may write, on a disk that works", path), err}
}
