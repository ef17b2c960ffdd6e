package mail_test

import (
	"context"
	"errors"
	"mime"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/mail"
	"cardwall/internal/store"
)

// A notification email says what happened and has a link for one-click unsubscribing. It
// contains no text from a confidential board.
func TestNotificationEmails(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		server := newSMTP(t)
		p := newWorker(s, mail.Options{SMTP: "smtp://" + server.address})
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		b := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch <plan>"}).ID()
		list := ada.Must("create_list", apptest.Fields{"boardId": b, "name": "To do"}).ID()
		card := ada.Must("create_card", apptest.Fields{"listId": list, "title": "Press kit"}).ID()
		// The database may contain titles from before titles were validated.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			c, err := tx.Card(ctx, card, board.Edit)
			before := c
			c.Title = "Press\u2028release & \"kit\""
			return errors.Join(err, tx.UpdateCardText(ctx, &c, before))
		})
		post := func() (subject, text, html string, header map[string][]string) {
			t.Helper()
			s.Clock.Advance(board.EmailDelay)
			s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.QueueNotificationEmails(ctx, 10)
				return err
			})
			before := len(server.emails())
			p.deliver(t)
			sent := server.emails()
			if len(sent) != before+1 {
				t.Fatalf("got %d emails, want 1", len(sent)-before)
			}
			h, text, html := read(t, sent[len(sent)-1].data)
			subject, err := (&mime.WordDecoder{}).DecodeHeader(h.Get("Subject"))
			if err != nil {
				t.Fatal(err)
			}
			return subject, text, html, h
		}

		ada.Must("add_comment", apptest.Fields{"cardId": card, "text": "@Bob, look:\nBcc: evil@example.com <script>"})
		subject, text, html, header := post()
		text = strings.ReplaceAll(text, "\r\n", "\n")
		if subject != "You were mentioned" || !strings.Contains(text, `Ada mentioned you: Press release & "kit"`) {
			t.Errorf("got subject %q and text\n%s\nwant the mention", subject, text)
		}
		if !strings.Contains(text, "@Bob, look: Bcc: evil@example.com <script>\nLaunch <plan>\n"+apptest.BaseURL+"/cards/"+
			card) || strings.Contains(html, "<script>") || !strings.Contains(html, "Launch &lt;plan&gt;") {
			t.Errorf("got email\n%s\n%s\nwant the comment on one line, escaped in HTML", text, html)
		}
		address, ok := strings.CutPrefix(strings.Trim(header["List-Unsubscribe"][0], "<>"),
			apptest.BaseURL+"/unsubscribe?token=")
		if !ok || header["List-Unsubscribe-Post"][0] != "List-Unsubscribe=One-Click" ||
			strings.Contains(p.log.String(), address) || !strings.Contains(text, address) {
			t.Errorf("got headers %v, want an unsubscribe link whose token is in the text but not in the log\n%s", header, p.log)
		}

		ada.Must("update_board", apptest.Fields{"boardId": b, "visibility": "confidential"})
		ada.Must("share_board", apptest.Fields{"boardId": b, "userId": bob.ID, "role": "editor"})
		ada.Must("add_comment", apptest.Fields{"cardId": card, "text": "@Bob, secret"})
		ada.Must("set_card_assignees", apptest.Fields{"cardId": card, "add": []string{bob.ID}})
		subject, text, html, _ = post()
		for _, word := range []string{"Ada", "Launch", "Press", "secret"} {
			if strings.Contains(subject+text+html, word) {
				t.Errorf("an email about a confidential board contains %q:\n%s\n%s", word, subject, text)
			}
		}
		if subject != "You were assigned a card on a confidential board, and 2 more" ||
			!strings.Contains(text, "A confidential board was shared with you") {
			t.Errorf("got email %q\n%s\nwant the generic texts for a confidential board", subject, text)
		}
		// Account emails have no unsubscribe link.
		s.Browser().Must("request_password_reset", apptest.Fields{"email": bob.Email})
		p.deliver(t)
		sent := server.emails()
		if h, _, _ := read(t, sent[len(sent)-1].data); h.Get("List-Unsubscribe") != "" {
			t.Errorf("account email: got headers %v, want no List-Unsubscribe", h)
		}
	})
}
