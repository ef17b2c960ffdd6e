package hook_test

import (
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/board"
)

// row is a row of the specification's table of states and transitions, in its wording.
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

// wantOff checks that a webhook is off for a reason.
func (w *world) wantOff(id string, why board.Off) {
	w.t.Helper()
	if h := w.stored(id); h.On || h.OffReason == nil || *h.OffReason != why || h.OffAt == nil {
		w.t.Errorf("the webhook is on=%t, off since %v because of %v; want off because of %s", h.On, h.OffAt,
			h.OffReason, why)
	}
}

func (w *world) wantOn(id string, failures int) {
	w.t.Helper()
	if h := w.stored(id); !h.On || h.OffReason != nil || h.Failures != failures {
		w.t.Errorf("the webhook is on=%t with %d consecutive failures, want on with %d", h.On, h.Failures, failures)
	}
}

// emails takes the emails that are due.
func (w *world) emails() (out []board.Email) {
	w.t.Helper()
	for {
		l := do(w, "", app.NextEmail, time.Hour)
		if l == nil {
			return out
		}
		out = append(out, *l)
	}
}

// wantDisabledEmail checks that one email is due, which tells a person why a webhook was
// disabled.
func (w *world) wantDisabledEmail(to string, why board.Off, path string) {
	w.t.Helper()
	l := w.emails()
	if len(l) != 1 || l[0].Kind != board.EmailWebhookDisabled || l[0].To != to || l[0].Webhook == nil ||
		l[0].Webhook.Reason != why || l[0].Link != baseURL+path {
		w.t.Errorf("the emails are %+v, want one to %s with the reason %s and a link to %s", l, to, why, path)
	}
}

// fail makes n deliveries of the webhook fail, one after the other.
func (w *world) fail(n int) {
	w.t.Helper()
	for range n {
		w.card()
		pass(time.Second)
	}
}

var created = []board.Kind{board.KindCardCreated}

// ofLeaver returns a webhook of a second person who manages the workspace and will leave it.
func (w *world) ofLeaver() (board.WebhookSecret, *receiver) {
	w.t.Helper()
	bob := w.person("bob")
	w.joins(bob, board.WorkspaceAdmin)
	to := w.receiver("receiver.test", nil)
	return w.webhookFor(bob,
		app.CreateWebhookInput{URL: "http://receiver.test/in", WorkspaceID: w.workspace, Events: created}), to
}

// ofBoardAdmin returns a webhook of a person who administers only its board.
func (w *world) ofBoardAdmin() (board.WebhookSecret, *receiver) {
	w.t.Helper()
	bob := w.person("bob")
	w.joins(bob, board.WorkspaceMember)
	do(w, w.ada, app.ShareBoard, app.ShareBoardInput{BoardInput: w.onBoard(), UserID: bob, Role: board.RoleAdmin})
	to := w.receiver("receiver.test", nil)
	return w.webhookFor(bob, app.CreateWebhookInput{URL: "http://receiver.test/in", BoardID: w.board, Events: created}), to
}

// see sets the visibility of the board.
func (w *world) see(v board.Visibility) {
	w.t.Helper()
	do(w, w.ada, app.UpdateBoard, app.UpdateBoardInput{BoardInput: w.onBoard(), Visibility: &v})
}

// spendQuota sets the number of deliveries that the organization has used today.
func (w *world) spendQuota(used int) {
	w.t.Helper()
	q := ask(w, app.GetDeliveryQuota, w.inWorkspace())
	w.sql("INSERT INTO delivery_days (organization_id, day, used) VALUES ($1, $2, $3) ON CONFLICT DO UPDATE "+
		"SET used = excluded.used", q.ID, q.Day, used)
}
