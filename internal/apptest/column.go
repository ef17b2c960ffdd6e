package apptest

import (
	"context"
	"database/sql"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the pgx driver; package store registers the sqlite driver

	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// Column returns the values of a query with one text column. Tests use it for data that no
// operation returns, such as the outbox.
func (s *Service) Column(text string, args ...any) []string {
	s.T.Helper()
	db, err := s.ownDB()
	if err != nil {
		s.T.Fatalf("open %s: %v", s.Database, err)
	}
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

// ownDB returns a pool of connections that is separate from the program's. All calls share it,
// because PostgreSQL takes longer to start a connection than to run most queries.
func (s *Service) ownDB() (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil {
		return s.own, nil
	}
	driver, address := "sqlite", sqldb.SQLiteAddress(s.Database, false) // waits for the server's writes
	if sqldb.IsPostgres(s.Database) {
		driver, address = "pgx", s.Database
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		return nil, err
	}
	s.own = db
	s.T.Cleanup(func() { db.Close() })
	return db, nil
}

// Listen subscribes webhooks to all events of the boards that everyone in a workspace can see, and of
// the given boards, which may be private or confidential. Outbox can then return the events.
func (s *Service) Listen(workspaceID string, boardIDs ...string) {
	s.T.Helper()
	for _, id := range append([]string{""}, boardIDs...) {
		s.Listener(workspaceID, id)
	}
}

// Listener subscribes a webhook to all events of a board, which may be confidential. If boardID is
// "", it subscribes to the boards that everyone in the workspace can see. It returns the webhook's
// id.
func (s *Service) Listener(workspaceID, boardID string) (id string) {
	s.T.Helper()
	s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		space, err := tx.OnWorkspace(ctx, workspaceID, board.ViewWorkspace)
		if err != nil {
			return err
		}
		owner, err := tx.WorkspaceOwner(ctx, workspaceID)
		if err != nil {
			return err
		}
		w := board.Webhook{ID: tx.NewID("whk_"), WorkspaceID: workspaceID, OwnerID: owner, Events: board.WebhookKinds(),
			Host: Receivers}
		if boardID != "" {
			w.BoardID = &boardID
		}
		id = w.ID
		return tx.InsertWebhook(ctx, &w, space.OrganizationID, "https://"+Receivers, "whsec_bGlzdGVuZXI=")
	})
	return id
}

// Outbox returns the kind and the data of each event that a board has sent or will send, ordered
// by version. The caller must call Listen before the events happen.
func (s *Service) Outbox(boardID string) []string {
	s.T.Helper()
	hooks := s.Column(`SELECT h.id FROM boards b JOIN webhooks h ON h.workspace_id = b.workspace_id WHERE b.id = $1
		AND (h.board_id = b.id OR h.board_id IS NULL AND b.visibility <> 'confidential')`, boardID)
	if len(hooks) == 0 {
		s.T.Fatalf("no webhook listens to board %s; call Listen first", boardID)
	}
	var last float64
	out := []string{}
	for _, body := range s.Column("SELECT body FROM deliveries WHERE board_id = $1 ORDER BY version, id", boardID) {
		var event struct {
			Type    string         `json:"type"`
			Version float64        `json:"boardVersion"`
			Data    jsontext.Value `json:"data"`
		}
		if err := json.Unmarshal([]byte(body), &event); err != nil {
			s.T.Fatalf("a delivery is not JSON: %v: %s", err, body)
		}
		if event.Version == last {
			continue // the same event for another webhook
		}
		last = event.Version
		out = append(out, event.Type+" "+string(event.Data))
	}
	return out
}

// CheckConsistency fails the test if the doctor finds a problem, such as a stored count that
// differs from the number of rows.
func (s *Service) CheckConsistency() {
	s.T.Helper()
	findings, err := dbtool.Examine(s.T.Context(), s.DB)
	if err != nil || len(findings) > 0 {
		s.T.Errorf("check the stored data: got findings %v, error %v; want none", findings, err)
	}
}

// WrongSummaries returns the ids of the boards whose summaries are wrong.
func (s *Service) WrongSummaries() (boardIDs []string) {
	s.T.Helper()
	if err := s.DB.Read(s.T.Context(), board.System(), func(v *store.View) error {
		return v.Raw().WrongSummaries(s.T.Context(), func(id string) bool {
			boardIDs = append(boardIDs, id)
			return true
		})
	}); err != nil {
		s.T.Fatal(err)
	}
	return boardIDs
}

// AllValues returns all text and binary values in the database by table and column, so
// that a test can check that something is not stored anywhere. It omits the search
// index of SQLite, which contains words without their order.
func (s *Service) AllValues() map[string][]string {
	s.T.Helper()
	columns := `SELECT t.name || ' ' || c.name || ' ' || c.type FROM pragma_table_list t JOIN pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'texts_words%'`
	if sqldb.IsPostgres(s.Database) {
		columns = `SELECT c.table_name || ' ' || c.column_name || ' ' || c.data_type FROM information_schema.columns c
			WHERE c.table_schema = current_schema() AND c.data_type IN ('text', 'bytea')`
	}
	out := map[string][]string{}
	for _, line := range s.Column(columns) {
		f := strings.Fields(line)
		value := `CAST("` + f[1] + `" AS TEXT)`
		if f[2] == "bytea" {
			value = `encode("` + f[1] + `", 'escape')`
		}
		out[f[0]+"."+f[1]] = s.Column(`SELECT ` + value + ` FROM "` + f[0] + `" WHERE "` + f[1] + `" IS NOT NULL`)
	}
	return out
}
