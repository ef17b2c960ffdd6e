package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// GetWebhookHealth returns how the latest attempts to send a webhook's deliveries went.
func GetWebhookHealth(ctx context.Context, v *store.View, in WebhookInput) (board.WebhookHealth, error) {
	w, err := v.Webhook(ctx, in.WebhookID)
	if err != nil {
		return board.WebhookHealth{}, err
	}
	return v.WebhookHealth(ctx, w.ID)
}
