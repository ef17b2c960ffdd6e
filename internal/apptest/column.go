package apptest

import (
	"database/sql"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx; the store brings the driver sqlite

	"cardwall/internal/store"
)

// Column reads one column of texts straight from the database, for what no
// operation answers, such as the outbox.
func (s *Service) Column(text string, args ...any) []string {
	s.T.Helper()
	driver := "sqlite"
	if store.IsPostgres(s.Database) {
		driver = "pgx"
	}
	db, err := sql.Open(driver, s.Database)
	if err != nil {
		s.T.Fatalf("open %s: %v", s.Database, err)
	}
	defer db.Close()
	rows, err := db.Query(text, args...)
	if err != nil {
		s.T.Fatalf("query: %v", err)
	}
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			s.T.Fatalf("scan: %v", err)
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		s.T.Fatalf("read: %v", err)
	}
	return out
}

// Outbox is what a board sent or is about to send: of each event the kind and
// the data, in the order of the versions.
func (s *Service) Outbox(boardID string) []string {
	s.T.Helper()
	return s.Column("SELECT kind || ' ' || data FROM events WHERE board_id = $1 ORDER BY version", boardID)
}

// Sound fails the test when what is counted is not what is there.
func (s *Service) Sound() {
	s.T.Helper()
	findings, err := s.DB.Examine(s.T.Context())
	if err != nil || len(findings) > 0 {
		s.T.Errorf("the data is not sound: %v %v", findings, err)
	}
}
