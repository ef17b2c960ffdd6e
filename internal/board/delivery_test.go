package board_test

import (
	"testing"

	"cardwall/internal/board"
)

func TestEffectOfADeliveryOnItsWebhook(t *testing.T) {
	t.Parallel()
	const last = board.MaxWebhookFailures - 1
	for name, c := range map[string]struct {
		effect   board.DeliveryEffect
		failures int
		after    int
		off      board.Off
	}{
		"a success ends a series of failures":                {board.DeliveryEffect{Delivered: true}, last, 0, ""},
		"a failure counts":                                   {board.DeliveryEffect{Counts: true}, 3, 4, ""},
		"the tenth consecutive failure disables the webhook": {board.DeliveryEffect{Counts: true}, last, last + 1, board.OffFailures},
		"a failed test does not count":                       {board.DeliveryEffect{}, last, last, ""},
		"410 disables the webhook immediately":               {board.DeliveryEffect{Counts: true, Gone: true}, 0, 1, board.OffGone},
		"an owner without access disables the webhook":       {board.DeliveryEffect{OwnerLost: true}, 0, 0, board.OffOwner},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if after, off := c.effect.After(c.failures); after != c.after || off != c.off {
				t.Errorf("%+v after %d failures: got %d failures and reason %q, want %d and %q", c.effect, c.failures, after, off, c.after, c.off)
			}
		})
	}
}
