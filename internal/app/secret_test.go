package app_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

const testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

type secretInput struct {
	BoardID string `json:"boardId" doc:"The board."`
	Fails   bool   `json:"fails,omitempty" doc:"Whether to refuse."`
}

type secretOutput struct {
	ID     string `json:"id" doc:"The board."`
	Secret string `json:"secret" doc:"The secret."`
}

// secretOperations returns a registry with two operations that return a secret. Only
// declared_secret is registered with op.Secret.
func secretOperations() *op.Registry {
	r := app.Operations()
	r.In("Tests", "Operations for tests.")
	returnSecret := func(ctx context.Context, tx *store.Tx, in secretInput) (secretOutput, error) {
		b, err := tx.Board(ctx, in.BoardID, board.Edit)
		if err == nil && in.Fails {
			err = board.Invalid("The secret %s is not good.", testSecret)
		}
		return secretOutput{b.ID, testSecret}, err
	}
	op.Command(r, "declared_secret", "POST /boards/{boardId}/declared-secret", "Return a secret.", returnSecret, op.Secret)
	op.Command(r, "undeclared_secret", "POST /boards/{boardId}/undeclared-secret", "Return a secret without declaring it.", returnSecret)
	return r
}

// A stored response with a secret is sealed. A repeated request returns the secret again, but the
// secret cannot be read from the database.
func TestStoredResponseWithASecretIsSealed(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{Registry: secretOperations}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		boardID, _, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 0)
		stored := func(key string) string {
			return strings.Join(s.Column("SELECT answer FROM idempotency WHERE key = $1", key), "|")
		}
		for _, in := range []fields{{"boardId": boardID}, {"boardId": boardID, "fails": true}} {
			sealedKey, openKey := "sealed", "open"
			if in["fails"] != nil {
				sealedKey, openKey = "sealed-refusal", "open-refusal"
			}
			first, again := ada.Keyed(sealedKey, "declared_secret", in), ada.At(s.Node()).Keyed(sealedKey, "declared_secret", in)
			if first.Status >= http.StatusInternalServerError || !bytes.Contains(first.Raw, []byte(testSecret)) {
				t.Fatalf("the first request: got status %d, body %s; want a response with the secret", first.Status, first.Raw)
			}
			if again.Status != first.Status || again.Header.Get("Idempotent-Replayed") != "true" ||
				!bytes.Contains(again.Raw, []byte(testSecret)) ||
				first.Status == http.StatusOK && !bytes.Equal(again.Raw, first.Raw) {
				t.Errorf("the replay: got status %d, body %s, want %d %s", again.Status, again.Raw, first.Status, first.Raw)
			}
			if row := stored(sealedKey); row == "" || strings.Contains(row, testSecret) || strings.Contains(row, testSecret[6:20]) {
				t.Errorf("the stored response is %q, want it sealed", row)
			}
			// Without op.Secret the row contains the secret, which proves that the check above can fail.
			ada.Keyed(openKey, "undeclared_secret", in)
			if row := stored(openKey); !strings.Contains(row, testSecret) {
				t.Errorf("the stored response without op.Secret is %q; want it to contain %q", row, testSecret)
			}
		}
		// A day later, a key that had a sealed response can be used again, with a response that is
		// not sealed.
		s.Clock.Advance(store.KeyLifetime + 1)
		in := fields{"boardId": boardID}
		first, again := ada.Keyed("sealed", "undeclared_secret", in), ada.Keyed("sealed", "undeclared_secret", in)
		if again.Header.Get("Idempotent-Replayed") != "true" || !bytes.Equal(first.Raw, again.Raw) ||
			first.Status != http.StatusOK {
			t.Errorf("a day later: got status %d, body %s, then %d %s; want 200, then the same response replayed", first.Status, first.Raw,
				again.Status, again.Raw)
		}
	})
}
