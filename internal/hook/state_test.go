package hook_test

import (
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
)

// row is a transition of a webhook, a delivery or a signing secret. Its name has the form "state, event:
// next state and other effects". docs/webhooks.md describes the transitions for users.
type row struct {
	name string
	test func(t *testing.T, w *world)
}

func runRows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { bubble(t, r.test) })
	}
}

// wantOff checks that a webhook is disabled for a reason.
func (w *world) wantOff(id string, reason board.Off) {
	w.t.Helper()
	if h := w.stored(id); h.On || h.OffReason == nil || *h.OffReason != reason || h.OffAt == nil {
		w.t.Errorf("got on=%t, offAt %v, offReason %v; want off with the reason %s", h.On, h.OffAt, h.OffReason,
			reason)
	}
}

// wantOn checks that a webhook is enabled and has a number of consecutive failures.
func (w *world) wantOn(id string, failures int) {
	w.t.Helper()
	if h := w.stored(id); !h.On || h.OffReason != nil || h.Failures != failures {
		w.t.Errorf("got on=%t with %d consecutive failures, want on with %d", h.On, h.Failures, failures)
	}
}

// emails returns the emails that are due, and leases each for an hour. It does not return them again
// during that time.
func (w *world) emails() (out []board.Email) {
	w.t.Helper()
	for {
		e := do(w, "", app.NextEmail, time.Hour)
		if e == nil {
			return out
		}
		out = append(out, *e)
	}
}

// wantDisabledEmail checks that exactly one email is due. It must tell a person why a webhook was
// disabled and link to a page.
func (w *world) wantDisabledEmail(to string, reason board.Off, path string) {
	w.t.Helper()
	all := w.emails()
	if len(all) != 1 || all[0].Kind != board.EmailWebhookDisabled || all[0].To != to || all[0].Webhook == nil ||
		all[0].Webhook.Reason != reason || all[0].Link != baseURL+path {
		w.t.Errorf("got emails %+v, want one to %s with the reason %s and a link to %s", all, to, reason, path)
	}
}

// fail creates n deliveries, one after the other. The receiver must make them fail.
func (w *world) fail(n int) {
	w.t.Helper()
	for range n {
		w.card()
		advance(time.Second)
	}
}

var created = []board.Kind{board.KindCardCreated}

// webhookOfAdmin creates a workspace webhook that belongs to a second admin of the workspace.
func (w *world) webhookOfAdmin() (board.WebhookSecret, *receiver) {
	w.t.Helper()
	bob := w.person("bob")
	w.joins(bob, board.WorkspaceAdmin)
	to := w.receiver("receiver.test", nil)
	return w.webhookFor(bob,
		app.CreateWebhookInput{URL: "http://receiver.test/in", WorkspaceID: w.workspace, Events: created}), to
}

// webhookOfBoardAdmin creates a board webhook that belongs to an admin of only that board.
func (w *world) webhookOfBoardAdmin() (board.WebhookSecret, *receiver) {
	w.t.Helper()
	bob := w.person("bob")
	w.joins(bob, board.WorkspaceMember)
	do(w, w.ada, app.ShareBoard, app.ShareBoardInput{BoardInput: w.boardInput(), UserID: bob, Role: board.RoleAdmin})
	to := w.receiver("receiver.test", nil)
	return w.webhookFor(bob, app.CreateWebhookInput{URL: "http://receiver.test/in", BoardID: w.board, Events: created}), to
}

// setVisibility sets the visibility of the board.
func (w *world) setVisibility(v board.Visibility) {
	w.t.Helper()
	do(w, w.ada, app.UpdateBoard, app.UpdateBoardInput{BoardInput: w.boardInput(), Visibility: &v})
}

// spendQuota sets the number of deliveries that the organization has used today.
func (w *world) spendQuota(used int) {
	w.t.Helper()
	q := read(w, app.GetDeliveryQuota, w.workspaceInput())
	w.sql("INSERT INTO delivery_days (organization_id, day, used) VALUES ($1, $2, $3) ON CONFLICT DO UPDATE "+
		"SET used = excluded.used", q.ID, q.Day, used)
}
