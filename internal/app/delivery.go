package app

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// deliveriesInput selects deliveries of a webhook.
type deliveriesInput struct {
	Type  board.Kind     `json:"type,omitempty" maxLength:"64" doc:"Only deliveries of this kind of event." kinds:"webhook" example:"card.created"`
	Since *board.Instant `json:"since,omitempty" format:"date-time" doc:"Only deliveries of events since this time." example:"2026-03-02T09:00:00.000Z"`
	Until *board.Instant `json:"until,omitempty" format:"date-time" doc:"Only deliveries of events before this time." example:"2026-03-09T09:00:00.000Z"`
}

// filter returns the filter for the store. It returns an invalid_request error if the kind
// is unknown or the period is empty.
func (in deliveriesInput) filter(status board.DeliveryStatus) (store.DeliveryFilter, error) {
	f := store.DeliveryFilter{Type: in.Type, Status: status}
	if in.Type != "" && !slices.Contains(board.WebhookKinds(), in.Type) {
		return f, board.Invalid("type must be one of %s.", board.JoinValues(board.WebhookKinds())).In("type", board.RuleValue)
	}
	if in.Since != nil {
		f.Since = *in.Since
	}
	if in.Until != nil {
		if f.Until = *in.Until; f.Until <= f.Since {
			return f, board.Invalid("since must be before until.").In("since", board.RuleValue)
		}
	}
	return f, nil
}

// ListDeliveriesInput is the input of ListDeliveries.
type ListDeliveriesInput struct {
	WebhookInput
	Status board.DeliveryStatus `json:"status,omitempty" enum:"pending,delivering,pending retry,delivered,failed,gave up,skipped" doc:"Only deliveries with this status." example:"failed"`
	deliveriesInput
	op.Paging
}

// ListDeliveries returns a webhook's deliveries of the last 30 days, but at most
// the last 100, newest first.
func ListDeliveries(ctx context.Context, v *store.View, in ListDeliveriesInput) (op.Page[board.Delivery], error) {
	f, err := in.filter(in.Status)
	if err != nil {
		return op.Page[board.Delivery]{}, err
	}
	if err := in.After(&f.Before); err != nil {
		return op.Page[board.Delivery]{}, err
	}
	w, err := v.Webhook(ctx, in.WebhookID)
	if err != nil {
		return op.Page[board.Delivery]{}, err
	}
	all, err := v.Deliveries(ctx, w.ID, f, in.Size()+1)
	return op.Cut(all, in.Size(), func(d board.Delivery) any { return d.ID }), err
}

// DeliveryInput identifies a delivery.
type DeliveryInput struct {
	DeliveryID string `json:"deliveryId" maxLength:"64" doc:"The id of the delivery." example:"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42"`
}

// GetDelivery returns a delivery with its attempts and its body.
func GetDelivery(ctx context.Context, v *store.View, in DeliveryInput) (board.DeliveryDetail, error) {
	return v.Delivery(ctx, in.DeliveryID)
}

// Redeliver resends a delivery, with the same id and body, if its status
// is failed, gave up or skipped. The delivery counts again against the
// organization's daily limit.
func Redeliver(ctx context.Context, tx *store.Tx, in DeliveryInput) (board.Delivery, error) {
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
	if !d.Status.CanRedeliver() {
		return board.Delivery{}, board.Invalid("deliveryId: the status of the delivery is %q. Only deliveries with "+
			"the status failed, gave up or skipped can be redelivered.", d.Status).In("deliveryId", board.RuleValue)
	}
	if err := tx.Redeliver(ctx, d.ID); err != nil {
		return board.Delivery{}, err
	}
	d, err = tx.Delivery(ctx, d.ID)
	return d.Delivery, err
}

// checkRedelivery locks a webhook and records it for the audit log. It returns an error
// if the webhook cannot send.
func checkRedelivery(ctx context.Context, tx *store.Tx, webhookID string) error {
	w, err := tx.Webhook(ctx, webhookID, false)
	if err != nil {
		return err
	}
	if !w.On {
		return board.Invalid("The webhook is disabled. Enable it first.")
	}
	noteWebhook(tx, w, w)
	return canSend(ctx, tx, w)
}

// RedeliverManyInput is the input of RedeliverMany.
type RedeliverManyInput struct {
	WebhookInput
	DeliveryIDs []string             `json:"deliveryIds,omitempty" minItems:"1" maxItems:"100" doc:"The ids of the deliveries to resend. Defaults to all eligible deliveries in the log." example:"[\"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42\"]"`
	Status      board.DeliveryStatus `json:"status,omitempty" enum:"failed,gave up,skipped" doc:"Only deliveries with this status." example:"gave up"`
	deliveriesInput
}

// Redelivered lists the deliveries that will be resent.
type Redelivered struct {
	DeliveryIDs []string `json:"deliveryIds" doc:"The ids of the deliveries that will be resent, newest first." example:"[\"itg_01jb2m3n4p5q6r7s8t9v0w1x2y:v42\"]"`
}

// RedeliverMany resends the eligible deliveries in a webhook's log that have the given ids,
// status, kind and time, as far as these are given. If they would exceed the organization's daily
// limit, it returns an error and resends none.
func RedeliverMany(ctx context.Context, tx *store.Tx, in RedeliverManyInput) (Redelivered, error) {
	out := Redelivered{DeliveryIDs: []string{}}
	f, err := in.filter(in.Status)
	if err != nil {
		return out, err
	}
	if err := checkRedelivery(ctx, tx, in.WebhookID); err != nil {
		return out, err
	}
	all, err := tx.Deliveries(ctx, in.WebhookID, f, board.DeliveriesKept)
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
		if !wanted || !d.Status.CanRedeliver() {
			continue
		}
		if err := tx.Redeliver(ctx, d.ID); err != nil {
			return out, err
		}
		out.DeliveryIDs = append(out.DeliveryIDs, d.ID)
	}
	if len(named) > 0 && f == (store.DeliveryFilter{}) {
		return out, board.NotFound()
	}
	return out, nil
}

// GetDeliveryQuota returns how many deliveries of a workspace's organization count
// against the daily limit today, and the limit.
func GetDeliveryQuota(ctx context.Context, v *store.View, in WorkspaceInput) (board.DeliveryQuota, error) {
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ViewDirectory)
	if err != nil {
		return board.DeliveryQuota{}, err
	}
	return v.Quota(ctx, w)
}
