package apptest

import (
	"errors"
	"io/fs"
	"os"

	"cardwall/internal/op"
)

// Copy copies the SQLite database to a new file and returns a service on the copy, with its own
// clock. Nothing may write to the database during the copy.
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
