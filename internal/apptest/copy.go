package apptest

import (
	"errors"
	"io/fs"
	"os"

	"cardwall/internal/op"
)

// Copy is the same program, with a clock of its own, on a copy of the database
// in a new file. It takes a SQLite database that nobody writes meanwhile.
func (s *Service) Copy(database string) *Service {
	s.T.Helper()
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(s.Database + end)
		if errors.Is(err, fs.ErrNotExist) && end != "" {
			continue // all is in the one file
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
