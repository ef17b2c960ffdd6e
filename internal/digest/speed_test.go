package digest_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"cardwall/internal/apptest"
)

// BenchmarkDigest measures digests over REST: of a board with 10,000 changes in the period, and of
// a workspace with 50 boards, which have 45,000 changes. The target for the board on SQLite is
// 100 ms.
func BenchmarkDigest(b *testing.B) {
	for _, database := range []struct {
		name    string
		address func() string
	}{
		{"sqlite", func() string { return filepath.Join(b.TempDir(), "cardwall.db") }},
		{"postgres", func() string { return apptest.PostgresURL(b) }},
	} {
		b.Run(database.name, func(b *testing.B) {
			w := newWorld(apptest.New(b, database.address(), apptest.Options{}))
			ids := hostile{boards: 50, cards: 500, changes: 10_000, people: 10, length: 40}.fill(b, w)
			for _, call := range []struct {
				name string
				in   fields
			}{
				{"get_board_digest", fields{"boardId": ids[0]}}, {"get_workspace_digest", fields{"workspaceId": w.workspace}},
			} {
				b.Run(call.name, func(b *testing.B) {
					size := 0
					for b.Loop() {
						r, answer := w.ada.Request(w.Registry.Named(call.name), call.in), httptest.NewRecorder()
						r.Header.Set("Authorization", "Bearer "+w.ada.Token)
						if w.Handler.ServeHTTP(answer, r); answer.Code != http.StatusOK {
							b.Fatalf("got status %d, body %s; want 200", answer.Code, answer.Body)
						}
						size = answer.Body.Len()
					}
					b.ReportMetric(float64(size), "bytes")
				})
			}
		})
	}
}
