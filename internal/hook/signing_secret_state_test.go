package hook_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/hook"
)

func rotation(id string, force bool) app.RotateWebhookSecretInput {
	return app.RotateWebhookSecretInput{WebhookInput: webhookInput(id), Force: force}
}

func TestStatesOfASigningSecret(t *testing.T) {
	runRows(t, []row{
		{"one active secret, person creates a new one: two signatures for 24 hours, then only the new one",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", nil)
				h := w.webhook("receiver.test")
				w.engine()
				w.card()
				advance(time.Hour)
				second := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)).Secret
				w.card()
				advance(24*time.Hour - time.Second)
				if _, err := try(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)); !board.IsCode(err,
					board.CodeLimitReached) || !strings.Contains(err.Error(), "set force to true") {
					t.Errorf("rotation within 24 hours of the last: got error %v, want code %s and a hint to force", err,
						board.CodeLimitReached)
				}
				w.card()
				advance(time.Second)
				w.card()
				advance(time.Second)
				for i, want := range [][]string{{h.Secret}, {second, h.Secret}, {second, h.Secret}, {second}} {
					p := to.received()[i]
					for _, secret := range want {
						wantSignedNow(t, secret, p)
					}
					if n := len(strings.Fields(p.header.Get(hook.HeaderSignature))); n != len(want) {
						t.Errorf("delivery %d: got %d signatures, want %d", i, n, len(want))
					}
				}
				if slices.Contains([]string{h.Secret, ""}, second) {
					t.Error("got an empty secret or the previous one, want a new one")
				}
			}},
		{"two active secrets, person forces a third: the first is dropped", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", nil)
			h := w.webhook("receiver.test")
			w.engine()
			second := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)).Secret
			third := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, true)).Secret
			w.card()
			advance(time.Second)
			p := to.received()[0]
			wantSignedNow(t, second, p)
			wantSignedNow(t, third, p)
			if err := hook.Verify(h.Secret, p.id, p.header.Get(hook.HeaderTimestamp), p.header.Get(hook.HeaderSignature), p.body,
				p.at); err == nil {
				t.Error("got a signature with the first of three secrets, want none")
			}
		}},
	})
}
