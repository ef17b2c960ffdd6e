package sqldb_test

import (
	"errors"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
)

// A probe runs one query on PostgreSQL and none on SQLite. If its function needs more, the result is
// always ErrProbe.
func TestProbeLimitsQueries(t *testing.T) {
	t.Parallel()
	for database, most := range map[string]int{t.TempDir() + "/cardwall.db": 0, apptest.EmptyPostgresURL(t): 1} {
		e := openEngine(t, database)
		refusal := errors.New("refused")
		for queries := range 3 {
			for _, result := range []error{nil, refusal} {
				got := e.Probe(t.Context(), func(r sqldb.Runner) error {
					for range queries {
						_, _ = count(t.Context(), r, selectSetting) // Probe must return the error even if fn does not
					}
					return result
				})
				want := result
				if queries > most {
					want = sqldb.ErrProbe
				}
				if !errors.Is(got, want) {
					t.Errorf("%s, %d queries and %v: got %v, want %v", e.Dialect().Name, queries, result, got, want)
				}
			}
		}
	}
}
