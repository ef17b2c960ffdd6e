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
	return app.RotateWebhookSecretInput{WebhookInput: named(id), Force: force}
}

func TestStatesOfASigningSecret(t *testing.T) {
	runRows(t, []row{
		{"one active secret, person creates a new one: two signatures for 24 hours, then by the new one only",
			func(t *testing.T, w *world) {
				to := w.receiver("receiver.test", nil)
				h := w.webhook("receiver.test")
				w.engine()
				w.card()
				pass(time.Hour)
				second := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)).Secret
				w.card()
				pass(24*time.Hour - time.Second)
				if _, err := try(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)); !board.IsCode(err,
					board.CodeLimitReached) || !strings.Contains(err.Error(), "force: true") {
					t.Errorf("a rotation within 24 hours of the last: %v", err)
				}
				w.card()
				pass(time.Second)
				w.card()
				pass(time.Second)
				for i, want := range [][]string{{h.Secret}, {second, h.Secret}, {second, h.Secret}, {second}} {
					p := to.seen()[i]
					for _, secret := range want {
						wantSignedNow(t, secret, p)
					}
					if n := len(strings.Fields(p.header.Get(hook.HeaderSignature))); n != len(want) {
						t.Errorf("delivery %d has %d signatures, want %d", i, n, len(want))
					}
				}
				if slices.Contains([]string{h.Secret, ""}, second) {
					t.Error("the new secret is not new")
				}
			}},
		{"two active secrets, person forces a third: the first is dropped", func(t *testing.T, w *world) {
			to := w.receiver("receiver.test", nil)
			h := w.webhook("receiver.test")
			w.engine()
			second := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, false)).Secret
			third := do(w, w.ada, app.RotateWebhookSecret, rotation(h.ID, true)).Secret
			w.card()
			pass(time.Second)
			p := to.seen()[0]
			wantSignedNow(t, second, p)
			wantSignedNow(t, third, p)
			if err := hook.Verify(h.Secret, p.id, p.header.Get(hook.HeaderTimestamp), p.header.Get(hook.HeaderSignature), p.body,
				p.at); err == nil {
				t.Error("the first of three secrets is still used for signing")
			}
		}},
	})
}
