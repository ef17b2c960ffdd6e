package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// headersColumn is the sealed content of the column webhooks.headers. Origin is the origin of
// the webhook's URL when the headers were set. Headers are sent only to that origin, even if
// a server of the version before, which ignores headers, has changed the URL.
type headersColumn struct {
	Origin  string                `json:"origin"`
	Headers []board.WebhookHeader `json:"headers"`
}

// WebhookHeaders returns the headers of a loaded webhook, with their values. It returns none
// if they may not be sent to the address, because they were set for another origin, or if
// they cannot be decrypted. An empty address stands for the webhook's present one.
func (v *View) WebhookHeaders(ctx context.Context, id, address string) ([]board.WebhookHeader, error) {
	var sealedAddress, sealed []byte
	if _, err := v.one(ctx, "SELECT address, headers FROM webhooks WHERE id = $1", []any{id}, &sealedAddress, &sealed); err != nil {
		return nil, fmt.Errorf("read the headers of %s: %w", id, err)
	}
	if address == "" {
		plain, err := v.unseal(id, "address", sealedAddress)
		if err != nil {
			return nil, nil // the key is lost; people must still be able to set new headers
		}
		address = plain
	}
	headers, err := v.openHeaders(id, address, sealed)
	if err != nil {
		return nil, nil // as above
	}
	return headers, nil
}

// openHeaders decrypts the headers of a webhook. It returns none if they were set for
// another origin than that of the address.
func (v *View) openHeaders(id, address string, sealed []byte) ([]board.WebhookHeader, error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	plain, err := v.unseal(id, "headers", sealed)
	if err != nil {
		return nil, err
	}
	var column headersColumn
	if err := json.Unmarshal([]byte(plain), &column); err != nil {
		return nil, fmt.Errorf("decode the headers of %s", id) // the cause would contain values
	}
	if column.Origin != board.Origin(address) {
		return nil, nil
	}
	return column.Headers, nil
}

// SetWebhookHeaders seals and stores the headers of a webhook, which replace all others, for
// the origin of the address. The address must be that of the webhook; an empty one stands
// for the webhook's present one.
func (tx *Tx) SetWebhookHeaders(ctx context.Context, w *board.Webhook, address string, headers []board.WebhookHeader) error {
	names := make([]string, len(headers))
	for i, h := range headers {
		names[i] = h.Name
	}
	w.HeaderNames = names
	if len(headers) == 0 {
		return tx.exec(ctx, "UPDATE webhooks SET headers = NULL, header_names = '' WHERE id = $1", w.ID)
	}
	if address == "" {
		var sealed []byte
		if _, err := tx.one(ctx, "SELECT address FROM webhooks WHERE id = $1", []any{w.ID}, &sealed); err != nil {
			return err
		}
		plain, err := tx.unseal(w.ID, "address", sealed)
		if err != nil {
			return err
		}
		address = plain
	}
	plain, err := json.Marshal(headersColumn{board.Origin(address), headers})
	if err != nil {
		return fmt.Errorf("encode the headers of %s", w.ID) // the cause would contain values
	}
	sealed, err := tx.seal(ctx, w.ID, "headers", string(plain))
	if err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE webhooks SET headers = $1, header_names = $2 WHERE id = $3", sealed, strings.Join(names, " "), w.ID)
}
