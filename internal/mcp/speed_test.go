package mcp_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// BenchmarkGetCard reads the same card over REST and as a tool, in the stateless revision
// and in an earlier one.
func BenchmarkGetCard(b *testing.B) {
	s := apptest.New(b, b.TempDir()+"/cardwall.db", apptest.Options{})
	ada := s.Person("Ada")
	boardID := ada.Must("create_board",
		apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "Launch"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": boardID, "name": "To do"}).ID()
	card := ada.Must("create_card",
		apptest.Fields{"listId": list, "title": "Press release", "description": "Two paragraphs, one picture."}).ID()
	ada.Must("add_checklist", apptest.Fields{"cardId": card, "title": "Before", "items": []string{"one", "two", "three"}})
	tool := func(revision string) *http.Request {
		return ada.RPCRequest(revision, "tools/call",
			apptest.Fields{"name": "get_card", "arguments": apptest.Fields{"cardId": card}})
	}
	for _, c := range []struct {
		name string
		r    *http.Request
	}{
		{"rest", ada.Request(s.Registry.Named("get_card"), apptest.Fields{"cardId": card})},
		{"stateless", tool(apptest.Stateless)}, {"sessions", tool(apptest.Sessions)},
	} {
		c.r.Header.Set("Authorization", "Bearer "+ada.Token)
		body, err := io.ReadAll(c.r.Body)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := c.r.Clone(b.Context())
					r.Body = io.NopCloser(bytes.NewReader(body))
					w := httptest.NewRecorder()
					s.Handler.ServeHTTP(w, r)
					if w.Code != http.StatusOK {
						b.Fatal(w.Code, w.Body)
					}
				}
			})
		})
	}
}
