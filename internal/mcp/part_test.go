package mcp_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// longText has the maximum length of a text, and different parts.
func longText() string {
	var b strings.Builder
	for i := 0; b.Len() < 3*16_384; i++ {
		b.WriteRune(rune(0x4E00 + i%5000))
	}
	return string([]rune(b.String())[:16_384])
}

// A model reads a text that is too long for a result in parts.
func TestLongTextsAreReadInParts(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		text := longText()
		w.ada.Must("update_card", fields{"cardId": w.card, "description": text})
		w.ada.Must("update_board", fields{"boardId": w.board, "description": text})
		discussed := w.ada.Must("create_card", fields{"listId": w.list, "title": "Discussed"}).ID()
		w.ada.Must("add_comment", fields{"cardId": discussed, "text": text})
		for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
			for _, c := range []struct {
				tool, path string
				in         fields
			}{
				{"get_card", "description", fields{"cardId": w.card}}, {"get_board", "description", fields{"boardId": w.board}},
				{"list_comments", "0.text", fields{"cardId": discussed}},
			} {
				read, calls := "", 0
				for whole := false; !whole && calls < 10; calls++ {
					c.in["textFrom"] = len([]rune(read))
					a := w.ada.ToolOf(w.ada.RPC(revision, "tools/call", fields{"name": c.tool, "arguments": c.in}))
					if a.Failed || c.in["textFrom"] == 0 && a.Get(c.path) != nil {
						t.Fatalf("%s: got %.300s, want a part that is not named as the whole text", c.tool, a.Text)
					}
					read += a.Response.Text(c.path + "Part")
					whole = !strings.Contains(a.Text, "read on with textFrom")
				}
				if read != text || calls < 2 {
					t.Errorf("%s in %s: got %d characters in %d calls, want all %d", c.tool, revision, len([]rune(read)), calls, len([]rune(text)))
				}
			}
		}
		for _, from := range []any{-1, 1.5, "many", true} {
			if a := w.ada.Tool("get_card", fields{"cardId": w.card, "textFrom": from}); a.Code != board.CodeInvalidRequest ||
				!strings.HasPrefix(a.Message, "textFrom ") {
				t.Errorf("textFrom %v: got %.300s, want an error about textFrom", from, a.Text)
			}
		}
		if a := w.ada.Tool("get_card", fields{"cardId": w.card, "textFrom": 1 << 40}); a.Get("descriptionPart") != "" {
			t.Errorf("after the end: got %.300s, want an empty part", a.Text)
		}
	})
}

// A text is not replaced with a part of it that an assistant has read.
func TestPartsDoNotReplaceTexts(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		text := []rune(longText())
		w.ada.Must("update_card", fields{"cardId": w.card, "description": string(text)})
		w.ada.Must("update_board", fields{"boardId": w.board, "description": string(text)})
		comment := w.ada.Must("add_comment", fields{"cardId": w.card, "text": string(text)}).ID()
		read := w.boardResource().Board["descriptionPart"]
		if a := w.ada.Tool("update_board", fields{"boardId": w.board, "description": read}); !strings.Contains(a.Message, "is a part of") {
			t.Errorf("update_board with the part in the resource: got %.300s, want an error", a.Text)
		}
		for _, c := range []struct{ tool, id, record, field string }{
			{"update_card", "cardId", w.card, "description"}, {"update_board", "boardId", w.board, "description"},
			{"edit_comment", "commentId", comment, "text"},
		} {
			for _, part := range []string{
				string(text[:8000]), string(text[:4000]) + "…", string(text[:100]) + "...", string(text[8000:]), string(text[16_000:]),
				string(text[4000:8000]), string(text[8000:12_000]) + "…",
			} {
				a := w.ada.Tool(c.tool, fields{c.id: c.record, c.field: part})
				if a.Code != board.CodeInvalidRequest || !strings.Contains(a.Message, "is a part of the present text") {
					t.Errorf("%s with %d characters: got %.300s, want an error", c.tool, len([]rune(part)), a.Text)
				}
			}
			for _, whole := range []string{
				string(text[:8000]) + " and no more", string(text), string(text[:7001]), string(text[4001:8001]), strings.Repeat("new ", 1000), "short",
			} {
				if a := w.ada.Tool(c.tool, fields{c.id: c.record, c.field: whole}); a.Failed {
					t.Errorf("%s with %d characters: got %.300s, want success", c.tool, len([]rune(whole)), a.Text)
				}
			}
		}
		eve := w.Person("Eve")
		if a := eve.Tool("update_card", fields{"cardId": w.card, "description": string(text[:4000])}); a.Code != board.CodeNotFound {
			t.Errorf("a person who cannot see the card: got %.300s, want not_found", a.Text)
		}
	})
}
