package mcp_test

import (
	"testing"

	"cardwall/internal/apptest"
)

// Clients of the newest revision get the data once, others also as text.
func TestDataIsSentOnceWhereTheRevisionAllowsIt(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for revision, parts := range map[string]int{apptest.Stateless: 0, apptest.Sessions: 1, "2025-06-18": 1, "2025-03-26": 1} {
			for _, name := range []string{"get_me", "list_other_tools"} {
				a := w.ada.RPC(revision, "tools/call", fields{"name": name, "arguments": fields{}})
				if content, ok := a.Result["content"].([]any); !ok || len(content) != parts || a.Result["structuredContent"] == nil {
					t.Errorf("%s in %s: got %s, want %d parts and the structured content", name, revision, a.Raw, parts)
				}
			}
			a := w.ada.RPC(revision, "tools/call", fields{"name": "get_card", "arguments": fields{"cardId": "#99"}})
			if content, _ := a.Result["content"].([]any); len(content) != 1 || a.Result["isError"] != true {
				t.Errorf("an error in %s: got %s, want its text", revision, a.Raw)
			}
		}
	})
}
