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

const minted = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

type mintInput struct {
	BoardID string `json:"boardId" doc:"The board."`
	Fails   bool   `json:"fails,omitempty" doc:"Whether to refuse."`
}

type mint struct {
	ID     string `json:"id" doc:"The board."`
	Secret string `json:"secret" doc:"What only its reader may know."`
}

// secretOperations returns operations that return a secret. One of them declares it.
func secretOperations() *op.Registry {
	r := app.Operations()
	r.In("Tests", "What only a test calls.")
	give := func(ctx context.Context, tx *store.Tx, in mintInput) (mint, error) {
		b, err := tx.Board(ctx, in.BoardID, board.Edit)
		if err == nil && in.Fails {
			err = board.Invalid("The secret %s is not good.", minted)
		}
		return mint{b.ID, minted}, err
	}
	op.Command(r, "mint", "POST /boards/{boardId}/mint", "Give a secret.", give, op.Secret)
	op.Command(r, "blab", "POST /boards/{boardId}/blab", "Give a secret, and keep it for everyone to read.", give)
	return r
}

// A stored response with a secret is sealed: a reader of the database cannot read it, and a
// repeated request gets it.
func TestStoredAnswerWithASecretIsSealed(t *testing.T) {
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
			first, again := ada.Keyed(sealedKey, "mint", in), ada.At(s.Node()).Keyed(sealedKey, "mint", in)
			if first.Status >= http.StatusInternalServerError || !bytes.Contains(first.Raw, []byte(minted)) {
				t.Fatalf("the first got %d %s", first.Status, first.Raw)
			}
			if again.Status != first.Status || again.Header.Get("Idempotent-Replayed") != "true" ||
				!bytes.Contains(again.Raw, []byte(minted)) ||
				first.Status == http.StatusOK && !bytes.Equal(again.Raw, first.Raw) {
				t.Errorf("the replay got %d %s, the first %d %s", again.Status, again.Raw, first.Status, first.Raw)
			}
			if row := stored(sealedKey); row == "" || strings.Contains(row, minted) || strings.Contains(row, minted[6:20]) {
				t.Errorf("the row holds %q", row)
			}
			// Without the declaration the row contains the secret; otherwise the check above would prove
			// nothing.
			ada.Keyed(openKey, "blab", in)
			if row := stored(openKey); !strings.Contains(row, minted) {
				t.Errorf("the row of a response without a declared secret is %q; want it to contain %q", row, minted)
			}
		}
		// A day later, a key that had a sealed response can be used again, with a response that is
		// not sealed.
		s.Clock.Advance(store.KeyLifetime + 1)
		in := fields{"boardId": boardID}
		first, again := ada.Keyed("sealed", "blab", in), ada.Keyed("sealed", "blab", in)
		if again.Header.Get("Idempotent-Replayed") != "true" || !bytes.Equal(first.Raw, again.Raw) ||
			first.Status != http.StatusOK {
			t.Errorf("a day later: got status %d, body %s, then %d %s", first.Status, first.Raw, again.Status, again.Raw)
		}
	})
}
