package sqldb

import (
	"errors"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errNoRoom means that the disk does not have enough room for the next step.
var errNoRoom = errors.New("there is not enough room on the disk")

// errMigrating means that another process is migrating the database.
var errMigrating = errors.New("another process is migrating the database")

// WaitReason reports whether an error returned by Open may go away without a change to
// the settings. It also returns a sentence that describes the problem. The sentence
// contains no address, user or file name, so it can be shown to anyone.
func WaitReason(err error) (reason string, wait bool) {
	var (
		p *pgconn.PgError
		s *sqlite.Error

		file *FileError
		path *fs.PathError
	)
	switch {
	case err == nil:
		return "", false
	case errors.As(err, &p):
		return postgresWait(p)
	case errors.As(err, &s):
		return sqliteWait(s.Code() & 0xff)
	case errors.Is(err, errNoRoom), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "The disk is full.", true
	case errors.As(err, &file):
		return "", false
	case errors.As(err, &path): // it contains a syscall.Errno, which is also a net.Error
		return "A file in the data folder cannot be opened.", true
	case errors.Is(err, errMigrating):
		return "Another process is migrating the database.", true
	}
	var (
		connect *pgconn.ConnectError
		network net.Error
	)
	if errors.As(err, &connect) || errors.As(err, &network) {
		return "PostgreSQL cannot be reached.", true
	}
	if errors.Is(postgresFault(err), ErrUnavailable) || errors.Is(err, ErrUnavailable) {
		return "The database is not available.", true
	}
	return "", false
}

func postgresWait(p *pgconn.PgError) (reason string, wait bool) {
	switch {
	case p.Code == "28P01", p.Code == "28000":
		return "PostgreSQL rejects the user name or the password.", true
	case p.Code == "3D000":
		return "The database does not exist on the PostgreSQL server.", true
	case p.Code == "57P03":
		return "PostgreSQL is starting up or shutting down.", true
	case p.Code == "53300":
		return "PostgreSQL has no free connections.", true
	case p.Code == "53100":
		return "The disk of PostgreSQL is full.", true
	case p.Code == "25006":
		return "PostgreSQL is read-only.", true
	case p.Code == "55P03", p.Code == "40001", p.Code == "40P01":
		return "Other transactions hold locks in the database.", true
	case strings.HasPrefix(p.Code, "08"), strings.HasPrefix(p.Code, "53"), strings.HasPrefix(p.Code, "57"),
		p.Code == "25P03":
		return "PostgreSQL is not available.", true
	}
	return "", false
}

func sqliteWait(code int) (reason string, wait bool) {
	switch code {
	case sqlite3.SQLITE_FULL:
		return "The disk is full.", true
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return "The disk of the database is failing or full.", true
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return "Another process is using the database.", true
	case sqlite3.SQLITE_NOMEM:
		return "There is not enough memory.", true
	}
	return "", false
}
