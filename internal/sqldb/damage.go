package sqldb

import (
	"errors"
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
