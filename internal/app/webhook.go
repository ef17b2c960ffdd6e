package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/url"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// CreateWebhookInput holds the fields of a new webhook.
type CreateWebhookInput struct {
	URL         string       `json:"url" maxLength:"2048" format:"uri" doc:"The URL that receives deliveries. It must use https and the standard port, and have a public host." example:"https://hooks.example.com/cardwall"`
	Events      []board.Kind `json:"events" minItems:"1" maxItems:"50" doc:"The kinds of events to send." kinds:"webhook" example:"[\"card.created\",\"card.moved\"]"`
	BoardID     string       `json:"boardId,omitempty" maxLength:"64" doc:"The id of the board whose events are sent. The caller must be an admin of the board. Give exactly one of boardId and workspaceId." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	WorkspaceID string       `json:"workspaceId,omitempty" maxLength:"64" doc:"The id of the workspace whose events are sent, from every board that the whole workspace can see. The caller must be an owner or admin of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Name        string       `json:"name,omitempty" maxLength:"512" doc:"The webhook's display name." example:"Deploy bot"`
	filterInput
	headersInput
}

// Outbound returns the URL that the server will send requests to. op.Engine
// checks the URL before the transaction.
func (in CreateWebhookInput) Outbound() string { return in.URL }

// CreateWebhook subscribes a URL to the events of a board, or of every board
// that the whole workspace can see. Only this response contains the signing
// secret.
func CreateWebhook(ctx context.Context, tx *store.Tx, in CreateWebhookInput) (board.WebhookSecret, error) {
	w := board.Webhook{ID: tx.NewID("whk_"), On: true, OwnerID: tx.Caller().UserID}
	space, err := setSource(ctx, tx, in, &w)
	if err != nil {
		return board.WebhookSecret{}, err
	}
	count, err := tx.CountWebhooks(ctx, space.OrganizationID)
	if err != nil {
		return board.WebhookSecret{}, err
	}
	if most := space.Plan.Limits().Webhooks; count >= most {
		return board.WebhookSecret{}, board.Refuse(board.CodePlanLimit, "The organization's plan (%s) is limited to "+
			"%d webhooks; there are %d.", space.Plan, most, count)
	}
	if err := describeWebhook(tx, &w, &in.Name, in.Events, in.URL); err != nil {
		return board.WebhookSecret{}, err
	}
	w.WebhookFilter, w.HeaderNames = board.WebhookFilter{Lists: []string{}, Labels: []string{}}, []string{}
	if err := in.setFilter(ctx, tx, &w); err != nil {
		return board.WebhookSecret{}, err
	}
	secret := newSigningSecret()
	if err := tx.InsertWebhook(ctx, &w, space.OrganizationID, in.URL, secret); err != nil {
		return board.WebhookSecret{}, err
	}
	if err := in.setHeaders(ctx, tx, &w, in.URL); err != nil {
		return board.WebhookSecret{}, err
	}
	noteWebhook(tx, board.Webhook{BoardID: w.BoardID}, w)
	err = tx.WarnOfTwins(ctx, &w)
	return board.WebhookSecret{Webhook: w, Secret: secret}, err
}

// setSource sets the board or workspace whose events the webhook receives, and
// returns the workspace. It returns an error if the caller may not subscribe to
// these events.
func setSource(ctx context.Context, tx *store.Tx, in CreateWebhookInput, w *board.Webhook) (board.Workspace, error) {
	if (in.BoardID == "") == (in.WorkspaceID == "") {
		return board.Workspace{}, board.Invalid("boardId, workspaceId: give exactly one of the two.")
	}
	if in.WorkspaceID != "" {
		w.WorkspaceID = in.WorkspaceID
		return tx.OnWorkspace(ctx, in.WorkspaceID, board.ManageMembers)
	}
	b, err := tx.Board(ctx, in.BoardID, board.Administer)
	if err != nil {
		return board.Workspace{}, err
	}
	if b.Visibility == board.Confidential {
		return board.Workspace{}, board.Invalid("boardId: a confidential board cannot have webhooks.").
			In("boardId", board.RuleValue)
	}
	count, err := tx.CountBoardWebhooks(ctx, b.ID)
	if err != nil {
		return board.Workspace{}, err
	}
	if err := board.CheckLimit("webhooks of a board", count, 1, tx.Limits().BoardWebhooks); err != nil {
		return board.Workspace{}, err
	}
	w.WorkspaceID, w.BoardID = b.WorkspaceID, &b.ID
	return tx.View.Workspace(ctx, b.WorkspaceID, board.ViewWorkspace)
}

// describeWebhook sets a webhook's name and events, and the parts of its URL that are
// shown. If an argument is nil or empty, its fields stay unchanged.
func describeWebhook(tx *store.Tx, w *board.Webhook, name *string, events []board.Kind, address string) error {
	if name != nil && *name != "" {
		text, err := title("name", *name)
		if err != nil {
			return err
		}
		w.Name = text
	}
	if len(events) > 0 {
		for _, k := range events {
			if !slices.Contains(board.WebhookKinds(), k) {
				return board.Invalid("events: each must be one of %s.", board.JoinValues(board.WebhookKinds())).
					In("events", board.RuleValue)
			}
		}
		w.Events = slices.DeleteFunc(board.WebhookKinds(), func(k board.Kind) bool { return !slices.Contains(events, k) })
	}
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return board.Invalid("url is not a valid URL.").In("url", board.RuleValue)
	}
	w.Host, w.LastFour = u.Host, address[max(0, len(address)-4):]
	if p := board.PlatformOf(tx.Caller().UserAgent, u.Hostname()); p != "" {
		w.Platform = &p
	}
	return nil
}

// noteWebhook records the changes to a webhook for the audit log. If the webhook was
// created, only the board of from is set. If it was deleted, only the board of to is set.
// NewValues are the names of the headers whose values a person gave.
func noteWebhook(tx *store.Tx, from, to board.Webhook, newValues ...string) {
	on := ""
	if to.BoardID != nil {
		on = *to.BoardID
	}
	c := board.Changes{}
	set := func(field string, from, to any, differ bool) {
		if differ {
			c[field] = board.FromTo{From: from, To: to}
		}
	}
	set("name", from.Name, to.Name, from.Name != to.Name)
	set("host", from.Host, to.Host, from.Host != to.Host)
	set("lastFour", from.LastFour, to.LastFour, from.LastFour != to.LastFour)
	set("events", from.Events, to.Events, !slices.Equal(from.Events, to.Events))
	set("lists", from.Lists, to.Lists, !slices.Equal(from.Lists, to.Lists))
	set("labels", from.Labels, to.Labels, !slices.Equal(from.Labels, to.Labels))
	set("headerNames", from.HeaderNames, to.HeaderNames, !slices.Equal(from.HeaderNames, to.HeaderNames))
	set("newHeaderValues", nil, newValues, len(newValues) > 0)
	set("on", from.On, to.On, from.On != to.On)
	if to.OldSecretUntil != nil {
		board.SetPtr(c, "oldSecretUntil", from.OldSecretUntil, to.OldSecretUntil)
	}
	tx.Note(on, c)
}

// newSigningSecret returns a new signing secret in the format of Standard
// Webhooks.
func newSigningSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// ListWebhooksInput is the input of ListWebhooks.
type ListWebhooksInput struct {
	WorkspaceID string `json:"workspaceId" maxLength:"64" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	op.Paging
}

// ListWebhooks returns the webhooks of a workspace that the caller manages,
// oldest first.
func ListWebhooks(ctx context.Context, v *store.View, in ListWebhooksInput) (op.Page[board.Webhook], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.Webhook]{}, err
	}
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return op.Page[board.Webhook]{}, err
	}
	all, err := v.Webhooks(ctx, w.ID, after, in.Size()+1)
	if err != nil {
		return op.Page[board.Webhook]{}, err
	}
	pointers := make([]*board.Webhook, len(all))
	for i := range all {
		pointers[i] = &all[i]
	}
	err = v.WarnOfTwins(ctx, pointers...)
	return op.Cut(all, in.Size(), func(w board.Webhook) any { return w.ID }), err
}

// WebhookInput identifies a webhook.
type WebhookInput struct {
	WebhookID string `json:"webhookId" maxLength:"64" doc:"The id of the webhook." example:"whk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetWebhook returns a webhook.
func GetWebhook(ctx context.Context, v *store.View, in WebhookInput) (board.Webhook, error) {
	w, err := v.Webhook(ctx, in.WebhookID)
	if err == nil {
		err = v.WarnOfTwins(ctx, &w)
	}
	return w, err
}

// DeleteWebhook deletes a webhook and its delivery log.
func DeleteWebhook(ctx context.Context, tx *store.Tx, in WebhookInput) (Deleted, error) {
	w, err := tx.Webhook(ctx, in.WebhookID, true)
	if err != nil {
		return Deleted{}, err
	}
	noteWebhook(tx, w, board.Webhook{BoardID: w.BoardID})
	return Deleted{w.ID}, tx.DeleteWebhook(ctx, w.ID)
}

// UpdateWebhookInput holds the fields to change. Absent fields stay unchanged.
type UpdateWebhookInput struct {
	WebhookInput
	Name   *string      `json:"name,omitempty" maxLength:"512" doc:"The new name." example:"Deploy bot"`
	URL    string       `json:"url,omitempty" maxLength:"2048" format:"uri" doc:"The new URL. The secret does not change. If the scheme, host or port changes, the values of headers must be given again." example:"https://hooks.example.com/cardwall"`
	Events []board.Kind `json:"events,omitempty" minItems:"1" maxItems:"50" doc:"The kinds of events to send." kinds:"webhook" example:"[\"card.created\"]"`
	filterInput
	headersInput
}

// Outbound returns the new URL, or "" if the URL does not change.
func (in UpdateWebhookInput) Outbound() string { return in.URL }

// UpdateWebhook changes a webhook. Pending deliveries go to the new URL.
func UpdateWebhook(ctx context.Context, tx *store.Tx, in UpdateWebhookInput) (board.Webhook, error) {
	w, err := tx.Webhook(ctx, in.WebhookID, false)
	if err != nil {
		return w, err
	}
	before := w
	if in.URL != "" {
		w.Platform = nil
	}
	if err := describeWebhook(tx, &w, in.Name, in.Events, in.URL); err != nil {
		return w, err
	}
	if err := in.setFilter(ctx, tx, &w); err != nil {
		return w, err
	}
	if err := in.setHeaders(ctx, tx, &w, in.URL); err != nil {
		return w, err
	}
	noteWebhook(tx, before, w, in.valuesGiven()...)
	if err := tx.UpdateWebhook(ctx, &w, in.URL); err != nil {
		return w, err
	}
	return w, tx.WarnOfTwins(ctx, &w)
}

// PauseWebhook disables a webhook. Pending deliveries are skipped.
func PauseWebhook(ctx context.Context, tx *store.Tx, in WebhookInput) (board.Webhook, error) {
	w, err := tx.Webhook(ctx, in.WebhookID, true)
	// A webhook that is disabled because its board is in the trash is paused too, so that
	// it stays disabled when the board is restored.
	if err != nil || !w.On && *w.OffReason != board.OffTrash {
		return w, err
	}
	before := w
	w.On, w.OffReason, w.OffAt = false, new(board.OffPaused), new(tx.Now())
	noteWebhook(tx, before, w)
	err = tx.UpdateWebhook(ctx, &w, "")
	return w, err
}

// EnableWebhook sends a test event. If the receiver accepts it, the webhook is
// enabled, its failure count is reset, and the caller becomes its owner.
// EnableWebhook returns the delivery of the test event, so that the caller can
// follow it.
func EnableWebhook(ctx context.Context, tx *store.Tx, in WebhookInput) (board.Delivery, error) {
	return testWebhook(ctx, tx, in.WebhookID, tx.Caller().UserID)
}

// TestWebhook sends a test event, even while the webhook is disabled. There
// is only one attempt.
func TestWebhook(ctx context.Context, tx *store.Tx, in WebhookInput) (board.Delivery, error) {
	return testWebhook(ctx, tx, in.WebhookID, "")
}

// testWebhook sends a test event. If newOwner is not empty, the webhook is enabled
// for that person when the receiver accepts the event.
func testWebhook(ctx context.Context, tx *store.Tx, id, newOwner string) (board.Delivery, error) {
	w, err := tx.Webhook(ctx, id, false)
	if err != nil {
		return board.Delivery{}, err
	}
	if err := canSend(ctx, tx, w); err != nil {
		return board.Delivery{}, err
	}
	if newOwner != "" && w.OffReason != nil && *w.OffReason == board.OffPlan {
		if err := tx.CheckWebhookLimit(ctx, w.ID); err != nil {
			return board.Delivery{}, err
		}
	}
	noteWebhook(tx, w, w)
	delivery, err := tx.InsertTest(ctx, w, newOwner)
	if err != nil {
		return board.Delivery{}, err
	}
	d, err := tx.Delivery(ctx, delivery)
	return d.Delivery, err
}

// canSend returns an error if a webhook belongs to a confidential board.
func canSend(ctx context.Context, tx *store.Tx, w board.Webhook) error {
	if w.BoardID == nil {
		return nil
	}
	b, err := tx.View.Board(ctx, *w.BoardID, board.View)
	if err == nil && b.Visibility == board.Confidential {
		err = board.Invalid("webhookId: the webhook's board is confidential, so nothing can be sent.").
			In("webhookId", board.RuleValue)
	}
	return err
}

// RotateWebhookSecretInput is the input of RotateWebhookSecret.
type RotateWebhookSecretInput struct {
	WebhookInput
	Force bool `json:"force,omitempty" doc:"Rotate even if the last rotation was less than 24 hours ago. The older of the two valid secrets stops working at once." example:"false"`
}

// RotateWebhookSecret creates a new signing secret. Only this response contains the
// secret. For 24 hours, deliveries are also signed with the previous secret. Another
// rotation within that time would end the older secret early, so it returns an error
// unless the input sets force.
func RotateWebhookSecret(ctx context.Context, tx *store.Tx, in RotateWebhookSecretInput) (board.WebhookSecret, error) {
	w, err := tx.Webhook(ctx, in.WebhookID, false)
	if err != nil {
		return board.WebhookSecret{}, err
	}
	if w.OldSecretUntil != nil && !in.Force {
		return board.WebhookSecret{}, board.Refuse(board.CodeLimitReached, "Two secrets are active until %s, which "+
			"is the maximum. Rotate after that, or set force to true to end the older one now.",
			w.OldSecretUntil.Time().Format("2006-01-02 15:04:05 UTC"))
	}
	before, secret := w, newSigningSecret()
	if err := tx.RotateSecret(ctx, &w, secret); err != nil {
		return board.WebhookSecret{}, err
	}
	noteWebhook(tx, before, w)
	err = tx.WarnOfTwins(ctx, &w)
	return board.WebhookSecret{Webhook: w, Secret: secret}, err
}

// WebhookSampleInput selects a kind of event.
type WebhookSampleInput struct {
	Event string `json:"event" maxLength:"64" doc:"The kind of event." kinds:"webhook" example:"card.created"`
}

// GetWebhookSample returns a sample delivery for a kind of event. Automation
// platforms use it in their workflow editors.
func GetWebhookSample(_ context.Context, v *store.View, in WebhookSampleInput) (board.Outgoing, error) {
	sample, ok := board.SampleOf(board.Kind(in.Event), v.Link(""))
	if !ok {
		return sample, board.Invalid("event must be one of %s.", board.JoinValues(board.WebhookKinds())).
			In("event", board.RuleValue)
	}
	return sample, nil
}
