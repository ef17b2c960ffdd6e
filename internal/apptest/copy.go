package apptest

import (
	"errors"
	"io/fs"
	"os"

	"cardwall/internal/op"
)

// Copy copies the SQLite database to a new file and returns the same program, with its own clock,
// on the copy. The database must not be written to during the copy.
func (s *Service) Copy(database string) *Service {
	s.T.Helper()
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(s.Database + end)
		if errors.Is(err, fs.ErrNotExist) && end != "" {
			continue // the main file contains everything
		}
		if err == nil {
			err = os.WriteFile(database+end, text, 0o600)
		}
		if err != nil {
			s.T.Fatalf("copy the database: %v", err)
		}
	}
	opts := s.opts
	opts.Registry, opts.document = func() *op.Registry { return s.Registry }, s.document
	return New(s.T, database, opts)
}
