package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListDeliveriesInput is the input of ListDeliveries.
type ListDeliveriesInput struct {
	WebhookInput
	Status board.DeliveryStatus `json:"status,omitempty" enum:"pending,delivering,pending retry,delivered,failed,gave up,skipped" doc:"Only entries with this status." example:"failed"`
	op.Paging
}

// ListDeliveries returns the last 100 deliveries of the last 30 days, newest
// first.
func ListDeliveries(ctx context.Context, v *store.View, in ListDeliveriesInput) (op.Page[board.Delivery], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.Delivery]{}, err
	}
	w, err := v.Webhook(ctx, in.WebhookID)
	if err != nil {
		return op.Page[board.Delivery]{}, err
	}
	all, err := v.Deliveries(ctx, w.ID, in.Status, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(d board.Delivery) any { return d.ID }), err
}

// DeliveryInput identifies a delivery.
type DeliveryInput struct {
	DeliveryID string `json:"deliveryId" maxLength:"64" doc:"The delivery." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
}

// GetDelivery returns a delivery with its attempts and its body.
func GetDelivery(ctx context.Context, v *store.View, in DeliveryInput) (board.DeliveryDetail, error) {
	return v.Delivery(ctx, in.DeliveryID)
}

// SendDeliveryAgain sends a delivery again, with the same id and body, if it
// failed, was given up or was skipped. It counts against the organization's
// daily limit.
func SendDeliveryAgain(ctx context.Context, tx *store.Tx, in DeliveryInput) (board.Delivery, error) {
	d, err := tx.Delivery(ctx, in.DeliveryID)
	if err != nil {
		return board.Delivery{}, err
	}
	if err := checkRedelivery(ctx, tx, d.WebhookID); err != nil {
		return board.Delivery{}, err
	}
	if d, err = tx.Delivery(ctx, in.DeliveryID); err != nil { // the webhook is locked now
		return board.Delivery{}, err
	}
	if !d.Status.CanSendAgain() {
		return board.Delivery{}, board.Invalid("deliveryId: the delivery is %s. Only deliveries that failed, gave up "+
			"or were skipped can be sent again.", d.Status).In("deliveryId", board.RuleValue)
	}
	if err := tx.Redeliver(ctx, d.ID); err != nil {
		return board.Delivery{}, err
	}
	d, err = tx.Delivery(ctx, d.ID)
	return d.Delivery, err
}

// checkRedelivery locks the webhook and returns an error if it cannot send.
func checkRedelivery(ctx context.Context, tx *store.Tx, webhookID string) error {
	w, err := tx.Webhook(ctx, webhookID, false)
	if err != nil {
		return err
	}
	if !w.On {
		return board.Invalid("The webhook is off. Switch it on first.")
	}
	noteWebhook(tx, w, w)
	return canSend(ctx, tx, w)
}

// SendDeliveriesAgainInput is the input of SendDeliveriesAgain.
type SendDeliveriesAgainInput struct {
	WebhookInput
	DeliveryIDs []string             `json:"deliveryIds,omitempty" minItems:"1" maxItems:"100" doc:"The deliveries to send again; all eligible deliveries of the log when absent." example:"[\"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42\"]"`
	Status      board.DeliveryStatus `json:"status,omitempty" enum:"failed,gave up,skipped" doc:"Only entries with this status." example:"gave up"`
}

// SentAgain lists the deliveries to be sent again.
type SentAgain struct {
	DeliveryIDs []string `json:"deliveryIds" doc:"The deliveries to be sent again, newest first." example:"[\"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42\"]"`
}

// SendDeliveriesAgain sends many deliveries of a webhook's log again: the given
// ones that are eligible, or all eligible ones. All count against the
// organization's daily limit. If they exceed it, none is sent.
func SendDeliveriesAgain(ctx context.Context, tx *store.Tx, in SendDeliveriesAgainInput) (SentAgain, error) {
	out := SentAgain{DeliveryIDs: []string{}}
	if err := checkRedelivery(ctx, tx, in.WebhookID); err != nil {
		return out, err
	}
	all, err := tx.Deliveries(ctx, in.WebhookID, in.Status, "", board.DeliveriesKept)
	if err != nil {
		return out, err
	}
	named := map[string]bool{}
	for _, id := range in.DeliveryIDs {
		named[id] = true
	}
	for _, d := range all {
		wanted := len(in.DeliveryIDs) == 0 || named[d.ID]
		delete(named, d.ID)
		if !wanted || !d.Status.CanSendAgain() {
			continue
		}
		if err := tx.Redeliver(ctx, d.ID); err != nil {
			return out, err
		}
		out.DeliveryIDs = append(out.DeliveryIDs, d.ID)
	}
	if len(named) > 0 && in.Status == "" {
		return out, board.NotFound()
	}
	return out, nil
}

// GetDeliveryQuota returns how many deliveries the organization of a workspace
// has caused today, and its daily limit.
func GetDeliveryQuota(ctx context.Context, v *store.View, in WorkspaceInput) (board.DeliveryQuota, error) {
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ViewDirectory)
	if err != nil {
		return board.DeliveryQuota{}, err
	}
	return v.Quota(ctx, w)
}
